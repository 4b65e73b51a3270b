/* The engine: a stateless model checker inside the checked program. Threads run one at a time, a strategy chooses which
 * goes on at every visible operation, and one process explores schedule after schedule. Layer: runtime. What outlives a
 * schedule (KEEP) is in struct dh_engine and what it points to, memory that restore leaves alone; every other variable
 * of the process, the runtime's included, is rolled back. One thread runs at a time: nothing here needs a lock. */
#ifndef DH_RUNTIME_ENGINE_ENGINE_H
#define DH_RUNTIME_ENGINE_ENGINE_H

#include "event/engine.h"
#include "search/coverage.h"
#include "search/shadow_known.h"
#include "search/strategy.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DH_ENGINE_TASKS = 8192,
    DH_ENGINE_NO_END = -1,
    DH_ENGINE_PAGE = 4096,
};

/* A thread of the program. Zeroed when it is created, in every schedule. */
struct dh_task {
    uint32_t index;
    uint32_t tid;                             /* that libc sees */
    void *sp;                                 /* saved stack pointer while it does not run */
    uintptr_t fs;                             /* thread pointer, also its pthread_t */
    uint32_t may_run;                         /* serial threads: futex word, 1 when it may go on */
    uint32_t alternative;                     /* that was chosen */
    uint64_t deadline;                        /* virtual time of a timed wait or sleep */
    const void *waits_at;                     /* condition, barrier or futex in whose wait queue it is, or NULL */
    bool (*mutex_is_free)(const void *mutex); /* that it needs then, too */
    bool woken;
    bool ended;
    uint8_t selector; /* of Syscall User Dispatch, with serial threads */
    bool detached;
    bool joined;
    bool cancel_off;   /* pthread_setcancelstate */
    bool cancel_async; /* pthread_setcanceltype */
    bool cancel_pending;
    bool is_c11;
    bool user_stack;              /* allocated by the program */
    bool cancellable;             /* it waits in a cancellation point */
    bool is_parked;               /* in dh_engine_park: it can take a signal */
    bool is_daemon;               /* of the engine's own: nobody waits for its end */
    uint64_t signals;             /* pending, of this thread */
    uint64_t mask;                /* of signals, virtual */
    uint64_t mask_after, awaited; /* what a call that changes the mask restores; set of sigwait */
    bool has_mask_after;
    bool awaited_signal;        /* it waited for one in this schedule */
    bool was_interrupted;       /* a handler ended its latest wait for input or output */
    uint8_t interrupts;         /* what a handler does to its wait: enum dh_interrupts (system/signals/signal.h) */
    uint8_t signal_alternative; /* of its step: takes a signal instead; DH_NO_SIGNAL: there is none */
    uint8_t signals_delayed;    /* steps that it made although it could have taken one */
    struct dh_signal_frame *handlers;           /* that it runs, innermost first */
    uintptr_t alternate_stack;                  /* of handlers */
    size_t alternate_size;                      /* 0: none */
    long io_args[4];                            /* of the call on descriptors that it waits in, */
    bool (*io_outside)(const struct dh_task *); /* and whether somebody outside could end that wait; NULL: no */
    uint64_t (*io_due)(const struct dh_task *); /* when what it waits for comes by itself; NULL: it does not */
    struct dh_description *io_on;               /* that the call blocks at, */
    bool io_held;                               /* kept open for it: the number was closed meanwhile */
    const pthread_mutex_t *robust[8];           /* robust mutexes it holds */
    const void
        *announced[2]; /* ranges whose hook was called: the library function that accesses them is not checked again */
    uint64_t random_state;       /* of getrandom; 0: nothing was drawn yet */
    uint64_t cas_before;         /* memory before a compare-exchange */
    uint64_t path_hash;          /* of the invisible accesses since it last parked */
    uint32_t invisible_accesses; /* how many */
    uint32_t computed;           /* how many times in a row it had many, and did not wait */
    uint64_t touched;            /* by them lately: a set of addresses */
    char name[16];               /* "": the program's (thread_attributes.c) */
    uint32_t last_place;         /* of its latest hook */
    uint32_t decision;           /* index in the trace of its latest step */
    uint32_t timed_out;          /* decision at which time last woke it; 0: never (stall.h) */
    uint32_t rounds;             /* times that it did so in a row */
    union {
        void *(*posix)(void *);
        int (*c11)(void *);
    } routine;
    void *argument;
    void *result;
    const pthread_attr_t *attributes; /* only while it is created */
    char *stack;                      /* lowest byte */
    size_t stack_size;
    struct dh_spin_history {
        uint64_t object, value, path;
        uint32_t place, same;
    } spin[4];
    uint32_t spin_next;
    struct dh_livelock_state { /* Brent's cycle detection (livelock.h) */
        uint64_t mark;         /* hash of an earlier state */
        uint32_t steps, until;
        bool recurs; /* the state came back */
    } livelock;
    bool may_spin;          /* `spin` has entries */
    struct dh_kernel_wait { /* serial threads: a call that the kernel performs while others go on */
        long number;
        const long *arguments; /* NULL: none */
        long result;
        uint32_t returned; /* futex word */
        bool waited;       /* the engine gave it time to return */
    } call;
    void *refused[5];              /* where a call that is refused is made for real */
    uintptr_t call_sp;             /* stack pointer at its latest system call */
    __pthread_unwind_buf_t unwind; /* target of pthread_exit and cancellation */
};

/* How threads of the program are executed: coroutines (coroutine.h) or serial threads (serial_threads.h). */
struct dh_engine_carrier_ops {
    bool is_kernel; /* serial threads */
    /* On the engine's stack: runs the task until it parks, ends, or the schedule ends. */
    void (*resume)(struct dh_task *);
    /* On the task's stack: returns when the task is chosen. */
    void (*park)(struct dh_task *);
    /* On any stack: ends the schedule, does not return. */
    void (*leave)(void);
    /* A new task, parked at its beginning; false: no memory. */
    bool (*create)(struct dh_task *);
    /* Serial threads only: after the task was joined or detached. */
    void (*join)(struct dh_task *);
    void (*detach)(struct dh_task *);
};

/* Which alternatives of its step a parked task has now, a bit each; 0: it is blocked. */
typedef uint32_t dh_engine_alternatives(const struct dh_task *);

struct dh_engine {
    struct dh_engine_control *control;
    const struct dh_engine_carrier_ops *carrier;
    void *sp;             /* saved stack pointer of the engine while a task runs */
    uintptr_t current_fs; /* thread pointer that is set */
    struct dh_task *tasks;
    struct dh_actor *actors;
    dh_engine_alternatives **alternatives; /* per task; NULL: one, always enabled */
    uint32_t n_tasks;
    uint32_t drains_from, n_drains; /* actors that are store buffers (drains.h): the first, how many so far */
    struct dh_task *current;        /* that runs; NULL: the engine itself */
    const struct dh_task *asking;   /* whose alternatives are asked for */
    bool wants_after;               /* __dh_after has something to do for the access of the current step */
    uint32_t last;                  /* actor of the latest step */
    uint32_t may_run;               /* serial threads: the engine's own futex word */
    bool running;                   /* a schedule is being executed */
    bool is_stalled;                /* the end: some tasks are stuck, the others only time out */
    bool is_abandoned;              /* it is cut for a limit of ours, not by the strategy */
    bool use_arch_prctl;
    int end; /* enum dh_engine_end, or DH_ENGINE_NO_END */
    int signal, status;
    uint64_t fault_address;
    uint32_t unordered_races;      /* accesses of this schedule that happens-before does not order */
    bool sees_invisible;           /* invisible accesses are checked for races, or are the adversary's */
    struct dh_shadow_known *known; /* those that need no check; NULL: all do */
    const struct dh_quarantine_filter *freed;
    uint32_t executing;        /* actor that executes `executed` */
    struct dh_choice choice;   /* of the strategy, */
    bool has_choice;           /* which is still to be executed */
    bool step_finished;        /* the strategy knows of it */
    bool order_pending;        /* the happens-before check does not know of it yet */
    uint32_t commands;         /* run in this schedule */
    bool awaits_process;       /* the current task waits for another process */
    uint32_t turns;            /* steps of all schedules */
    uint64_t idle_steps;       /* weight of consecutive steps that only yield, */
    uint32_t idle_from;        /* and the decision they began with */
    uint64_t operations;       /* invisible accesses of this schedule */
    uint64_t yielding_steps;   /* of it: yield, sleep */
    uint64_t loads_before;     /* progress.loads when it began */
    uint64_t work;             /* when a thread last ended: see dh_engine_work */
    uint32_t pending_races;    /* found in this schedule */
    struct dh_step executed;   /* the step of the chosen task, completed while it is executed */
    struct dh_step first_step; /* main's, at the snapshot */
    struct dh_task first_task;
    uint64_t now_ns; /* virtual time */
    bool hurries;    /* nothing can happen but what is far in the future */
    uint64_t wall_base_ns, mono_base_ns, started_ns;

    const struct dh_strategy *strategy;
    void *strategy_self;
    struct dh_search search;
    struct dh_coverage *coverage; /* NULL: not asked for */
    struct dh_engine_decision *trace;
    struct dh_engine_value *values; /* of the trace; NULL: not recorded */
    uint32_t depth, depth_max;
    uint32_t undisturbed;     /* steps of the schedule's beginning that are not the strategy's: they have one entry */
    uint32_t quantum, in_row; /* of those: how many steps of a task may follow each other, and how many did */
    bool is_even;             /* the undisturbed tasks are level, and stay so (undisturbed.h) */
    bool prepares;            /* it is being found out where to begin */
    bool vanishes;            /* every schedule is a process of its own: only what processes share is undone */
    bool records;             /* the schedule is run to find out where to begin (start_point.h) */
    uint64_t flags;
    uint32_t look_for;
    bool hides;            /* hidden accesses do nothing (hidden_accesses.h), */
    bool samples_hidden;   /* but now they are looked at */
    bool is_full;          /* with `shared`: nothing is hidden in this schedule */
    const uint8_t *shared; /* places that are not hidden, since they access what several threads do; NULL: all are */
    bool heuristic_picks;  /* the values of adversarial loads; else the strategy does */
    bool goal_reached;     /* for STOP_AT_FIRST */

    dh_engine_marks *visible;
    uint32_t n_visible;

    char *search_memory, *search_next, *search_end; /* of the strategy */
    char *keep, *keep_end;                          /* free KEEP memory */
    char *lasting, *lasting_end;                    /* free memory that children share */
};

/* Entries of the trace so far. */
static inline uint32_t dh_engine_entries(const struct dh_engine *e)
{
    return !e->undisturbed ? e->depth : e->depth < e->undisturbed ? e->depth != 0 : e->depth - e->undisturbed + 1;
}

/* Steps that the strategy chose. */
static inline uint32_t dh_engine_chosen(const struct dh_engine *e)
{
    return e->depth > e->undisturbed ? e->depth - e->undisturbed : 0;
}

/* What the strategy chooses from. */
static inline struct dh_decision dh_engine_choice_point(const struct dh_engine *e)
{
    return (struct dh_decision){e->actors, e->n_drains ? e->drains_from + e->n_drains : e->n_tasks, e->last,
                                dh_engine_chosen(e)};
}

/* In KEEP memory; the pointer itself does not change once the engine is on. */
extern struct dh_engine *dh_engine;
/* From the first creation of a thread on: primitives are modelled. */
extern bool dh_engine_on;

/* Operations of the schedule so far, without waiting (struct dh_engine_progress, works). */
static inline uint64_t dh_engine_work(const struct dh_engine *e)
{
    return e->operations + e->depth - e->yielding_steps - (e->control->progress.loads - e->loads_before);
}

/* ---- start.c, loop.c ---- */

/* In main, before it creates the first thread: everything from here on is explored. Returns once per schedule, when
 * that creation was chosen. */
void dh_engine_begin(const struct dh_step *create);
/* The main loop, on the engine's stack; ends with the process. */
void dh_engine_loop(void);
/* Once for a search. */
void dh_engine_start_strategy(void);
/* Discards all the strategy knows and starts it again. */
void dh_engine_restart_strategy(void);
/* The search is over: ends the process. */
__attribute__((noreturn)) void dh_engine_finish(enum dh_engine_state state);
/* The one schedule of serial threads ended: records it; the process goes on to its own end. */
void dh_engine_conclude(void);
/* Ends the process with state CANNOT and this text. */
__attribute__((noreturn, format(printf, 1, 2))) void dh_engine_cannot(const char *fmt, ...);
/* The same with what the program wants to do and where: the place that was set for the call, or what is found on the
 * stack from there. */
__attribute__((noreturn)) void dh_engine_cannot_do(const char *what, uintptr_t sp);
/* Ends the schedule from any task. */
__attribute__((noreturn)) void dh_engine_end_schedule(enum dh_engine_end how);
/* With serial threads this returns: the process goes on to its end. */
void dh_engine_program_exits(int status);
/* Before a thread is created: is it the engine's? Not in a process that is not explored. */
bool dh_engine_takes_threads(void);
/* This process is none of the search's any more. */
void dh_engine_leave(void);
/* At the end of a process that created no thread. */
void dh_engine_ended_without_threads(void);

/* Serial threads: the task that goes on now that this one parks, which may be itself; NULL: the engine has to go on.
 * Decided in the task's own thread, which spares the engine's turn. */
struct dh_task *dh_engine_next_task(const struct dh_task *t);
/* Does a coroutine that parks in the undisturbed beginning of a schedule just go on? */
bool dh_engine_undisturbed_continues(struct dh_task *t);

/* ---- park.c ---- */

/* Waits until the strategy chooses the current task for this step; returns the alternative. The caller then executes
 * the step; no other task runs meanwhile. */
uint32_t dh_engine_park(const struct dh_step *step);
/* The same for synchronisation: flags, object and second as in struct dh_step; the place is the call's.
 * `alternatives` NULL: one, always enabled. */
uint32_t dh_engine_park_at(enum dh_step_kind kind, unsigned flags, const void *object, const void *second,
                           dh_engine_alternatives *alternatives);
/* The current step changed nothing: a try that failed, a timeout. */
static inline void dh_engine_step_failed(void);
/* The place that instrumented code set for the call it makes, once; 0: none. */
uint32_t dh_engine_call_place(void);
static inline struct dh_step *dh_task_step(const struct dh_task *t)
{
    return &dh_engine->actors[t->index].step;
}
static inline struct dh_task *dh_engine_self(void)
{
    return dh_engine->current;
}

static inline void dh_engine_step_failed(void)
{
    dh_engine->executed.flags |= DH_STEP_FAILED;
}

/* ---- threads.c ---- */

bool dh_tasks_init(void);

/* ---- processes/process.c ---- */

bool dh_commands_init(void);
/* The system calls wait4 and waitid. */
long dh_commands_wait(long number, const long a[6]);

/* ---- keep.c ---- */

/* Which of it is shared with child processes. */
enum dh_keep_sharing { DH_KEEP_PRIVATE, DH_KEEP_SHARES_LASTING, DH_KEEP_SHARES_ALL };
bool dh_keep_init(struct dh_engine **out, enum dh_keep_sharing sharing);
/* Zeroed, aligned to 64; NULL: exhausted. */
void *dh_keep_alloc(size_t n);
/* What is true of all schedules, also where each is a child of one that ran their common beginning (start_point.h):
 * what else KEEP memory holds is then as it was there. */
void *dh_keep_lasting(size_t n);
/* For stacks: KEEP memory that is private to each process. */
void *dh_keep_private(size_t n);
bool dh_keep_contains(uintptr_t address);

/* ---- call_stacks.c ---- */

/* Return addresses of the task's shadow stack, innermost first, as many as there are. */
void dh_call_stack_copy(uint32_t task, uint64_t out[DH_ENGINE_FRAMES]);
void dh_call_stack_set_images(struct dh_engine_found *f);
/* Words on the stack that look like return addresses into the executable, as its file has them, innermost first;
 * answers how many. */
unsigned dh_call_stack_scan(uintptr_t sp, uint64_t *out, unsigned most);

/* ---- found_ends.c ---- */

void dh_found_ends_init(void);
/* Records the present schedule as one that leads to `kind`; `parties` are indices of parked tasks. */
void dh_found_ends_record_tasks(enum dh_engine_end kind, const uint32_t *parties, uint32_t n);
/* The same for accesses at which no task is parked. */
void dh_found_ends_record(enum dh_engine_end kind, const struct dh_engine_party *parties, uint32_t n);
/* Text of the ends that follow: an assertion, a use after free. */
void dh_found_ends_set_text(const char *text);

/* ---- access_values.c ---- */

/* Memory at the address, read by the kernel, so that wild pointers do no harm. */
uint64_t dh_access_value_read(uint64_t address, uint32_t size);
/* Around the access that the task was chosen for. */
void dh_access_values_before(const struct dh_task *t, const void *address, size_t size);
void dh_access_values_after(const struct dh_task *t, const void *address, size_t size);

/* ---- occurrence_counts.c: how often each task came to each place in this schedule ---- */

bool dh_occurrence_counts_init(void);
void dh_occurrence_counts_reset(void);
uint32_t dh_occurrence_counts_next(uint32_t task, uint32_t place);

#endif
