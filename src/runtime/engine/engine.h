/* The engine: the program's threads one at a time, every choice a strategy's, schedule after schedule in one process.
 * Layer: runtime. All that outlives a schedule (KEEP) is in struct dh_engine and what it points to, memory that restore
 * leaves alone; every other variable of the process, the runtime's included, is rolled back. Everything runs one at a
 * time: tasks on their own stacks, the engine on its own. */
#ifndef DH_RUNTIME_ENGINE_ENGINE_H
#define DH_RUNTIME_ENGINE_ENGINE_H

#include "event/engine.h"
#include "search/coverage.h"
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

/* A thread of the program. Reset when a schedule begins, but for what carries it. */
struct dh_task {
    uint32_t index;
    uint32_t tid;   /* what libc takes for its id */
    void *sp;       /* while it does not run */
    uintptr_t fs;   /* thread pointer, also its pthread_t */
    uint32_t baton; /* kernel threads: 1 when it may go on */
    uint32_t alternative;
    uint64_t deadline;    /* virtual time of a timed wait or sleep */
    const void *waits_at; /* condition or futex in whose queue it is, or NULL */
    bool woken;
    bool ended;
    uint8_t selector; /* of system calls, with kernel threads */
    bool detached;
    bool joined;
    bool cancel_off;   /* pthread_setcancelstate */
    bool cancel_async; /* pthread_setcanceltype */
    bool cancel_pending;
    bool is_c11;
    bool own_stack;                   /* given by the program */
    bool cancellable;                 /* what it waits for is a point of cancellation */
    uint64_t signals;                 /* sent to it, not delivered yet */
    uint64_t mask;                    /* of signals */
    long io[4];                       /* what it waits for, of the system call */
    const pthread_mutex_t *robust[8]; /* held */
    const void *said[2];              /* that a range is accessed: who does it need not say so again */
    uint64_t before;                  /* what a compare-exchange found */
    uint64_t path;                    /* which accesses were not visible since it last parked, in short */
    uint32_t quiet;                   /* accesses that were not visible since it last parked */
    uint32_t last_place;              /* where it was last */
    uint32_t decision;                /* of the trace: its last */
    union {
        void *(*posix)(void *);
        int (*c11)(void *);
    } routine;
    void *argument;
    void *result;
    const pthread_attr_t *attributes; /* while it is created */
    char *stack;                      /* lowest byte */
    size_t stack_size;
    struct dh_spin_history {
        uint64_t object, value, path;
        uint32_t place, same;
    } spin[4];
    uint32_t spin_next;
    struct dh_livelock_state {
        uint64_t mark; /* a state it was in */
        uint32_t steps, until;
        bool recurs;
    } recurrence;
    bool spins;                    /* something is in it */
    __pthread_unwind_buf_t unwind; /* where pthread_exit and cancellation lead to */
};

struct dh_engine_carrier_ops {
    bool is_kernel;
    /* On the engine's stack: lets the task go on until it parks, ends, or the schedule ends. */
    void (*resume)(struct dh_task *);
    /* On the task's: until it is chosen. */
    void (*park)(struct dh_task *);
    /* On any: never comes back. */
    void (*leave)(void);
    /* A new task, parked where it begins; false: no memory. */
    bool (*create)(struct dh_task *);
    /* Kernel threads: after the task was joined or detached. */
    void (*join)(struct dh_task *);
    void (*detach)(struct dh_task *);
};

/* Which alternatives a parked task has now: bit 0 is the first. */
typedef uint32_t dh_engine_alternatives(const struct dh_task *);

struct dh_engine {
    struct dh_engine_control *control;
    const struct dh_engine_carrier_ops *carrier;
    void *sp;         /* of the engine, while a task runs */
    uintptr_t fs_now; /* whose thread pointer is set */
    struct dh_task *tasks;
    struct dh_actor *actors;
    dh_engine_alternatives **ways; /* of each */
    uint32_t n_tasks;
    uint32_t drains_from, n_drains; /* actors that are store buffers (drains.h): from where, how many so far */
    struct dh_task *current;        /* NULL: the engine itself */
    bool after;                     /* somebody wants to know what the access of the current step came to */
    uint32_t last;
    uint32_t baton; /* the engine's own, with kernel threads */
    bool running;   /* a schedule is under way */
    bool use_arch_prctl;
    int end; /* enum dh_engine_end, or DH_ENGINE_NO_END */
    int signal, status;
    uint64_t fault_address;
    uint32_t raced_unordered; /* accesses of this schedule that nothing orders */
    bool orders;              /* accesses that are not visible are looked at: checked, or by an adversary */
    uint32_t executing;       /* who executes `executed`, */
    bool finished;            /* no more */
    bool unordered;           /* which the order of events does not have yet */
    uint32_t commands;        /* run in this schedule */
    bool outside;             /* what the current task waits for is another process */
    uint32_t turn;            /* counts who goes on, in all schedules */
    uint64_t idle;            /* steps in a row that only gave way, */
    uint32_t idle_from;       /* and the decision they began with */
    uint64_t operations;      /* accesses of this schedule that were not visible */
    uint64_t waits;           /* steps of it that only give way */
    uint64_t loads_before;    /* progress.loads when it began */
    uint64_t work;            /* as of when a thread last ended: see dh_engine_work */
    uint32_t raced;           /* races were found in this schedule */
    struct dh_step executed;  /* what the chosen task does now, as it turns out */
    struct dh_step first;     /* main's, at the snapshot */
    struct dh_task first_task;
    uint64_t now_ns; /* virtual */
    uint64_t chance; /* for getrandom */
    uint64_t wall_base_ns, mono_base_ns, started_ns;

    const struct dh_strategy *strategy;
    void *strategy_self;
    struct dh_search search;
    struct dh_coverage *coverage; /* NULL: nobody asked */
    struct dh_engine_decision *trace;
    struct dh_engine_value *values; /* of the trace; NULL: nobody wants to know */
    uint32_t depth, depth_max;
    uint64_t flags;
    uint32_t look_for;
    bool picks;     /* values of adversarial loads are the heuristic's to choose, not the strategy's */
    bool satisfied; /* what STOP_AT_FIRST waits for was found */

    dh_engine_marks *visible;
    uint32_t n_visible;

    char *search_memory, *search_next, *search_end; /* the strategy's part */
    char *keep, *keep_end;
};

/* How the strategy sees it now. */
static inline struct dh_moment dh_engine_choice_point(const struct dh_engine *e)
{
    return (struct dh_moment){e->actors, e->n_drains ? e->drains_from + e->n_drains : e->n_tasks, e->last, e->depth};
}

/* KEEP; the pointer itself never changes once the engine is on. */
extern struct dh_engine *dh_engine;
/* From the first creation of a thread on, modelled primitives are used. */
extern bool dh_engine_on;

/* What the schedule has done so far, waiting left out (struct dh_engine_progress, works). */
static inline uint64_t dh_engine_work(const struct dh_engine *e)
{
    return e->operations + e->depth - e->waits - (e->control->progress.loads - e->loads_before);
}

/* ---- start.c, loop.c ---- */

/* At the start of the process; `where` is DEADHEAT_ENGINE's value or NULL. */
void dh_engine_start(const char *where);
/* In the thread that is about to create the first other one: everything from here on is explored. Comes back once per
 * schedule, when that creation was chosen. */
void dh_engine_begin(const struct dh_step *create);
/* The engine's own life, on its stack; ends with the process. */
void dh_engine_loop(void);
/* From its beginning, with the memory it had. */
void dh_engine_restart_strategy(void);
/* No more; ends the process. */
__attribute__((noreturn)) void dh_engine_finish(enum dh_engine_state state);
/* The one schedule that kernel threads go through ended: keeps what came of it; the process may go on to its end. */
void dh_engine_conclude(void);
/* The same, with words: "cannot explore: ...". */
__attribute__((noreturn, format(printf, 1, 2))) void dh_engine_cannot(const char *fmt, ...);
/* Ends the schedule from wherever the program is. */
__attribute__((noreturn)) void dh_engine_end_schedule(enum dh_engine_end how);
/* With kernel threads this comes back: the process goes on to its end. */
void dh_engine_program_exits(int status);
/* A child is not explored. */
void dh_engine_off_in_child(void);
/* At the end of the process, when no thread was ever created. */
void dh_engine_ended_without_threads(void);

/* With kernel threads, of a task that parks: is it the one that goes on, too, by the schedule that is replayed? Then
 * that is decided where it runs, and nobody has to be woken. */
bool dh_engine_replay_continues(struct dh_task *t);

/* ---- park.c ---- */

/* Waits until the strategy chooses the current task for this step; answers the alternative. Afterwards the step is
 * executed by the caller, undisturbed. */
uint32_t dh_engine_park(const struct dh_step *step);
/* The same for what is not a memory access: flags, object and second as in struct dh_step; the place is the call's.
 * `ways` NULL: it can always go on, in one way. */
uint32_t dh_engine_park_at(enum dh_step_kind kind, unsigned flags, const void *object, const void *second,
                           dh_engine_alternatives *ways);
/* What the current step turned out to be: it changed nothing. */
static inline void dh_engine_step_failed(void);
/* The place that instrumented code announced for the call it makes; 0: none, or it was asked for before. */
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

/* ---- children.c ---- */

bool dh_commands_init(void);
/* The system call wait4. */
long dh_commands_wait4(long number, const long a[6]);

/* ---- keep.c ---- */

/* `shared`: with children, too. */
bool dh_keep_init(struct dh_engine **out, bool shared);
/* Zeroed, aligned to 64; NULL: no more. */
void *dh_keep_alloc(size_t n);
/* For stacks: not restored either, but each process has its own. */
void *dh_keep_private(size_t n);
bool dh_keep_contains(uintptr_t address);

/* ---- callers.c ---- */

/* Fills in as many as there are. */
void dh_call_stack_copy(uint32_t task, uint64_t out[DH_ENGINE_FRAMES]);
void dh_call_stack_set_image(struct dh_engine_found *f);

/* ---- found.c ---- */

void dh_found_ends_init(void);
/* Keeps the present schedule as one that leads to `kind`; `parties` are task indices. */
void dh_found_ends_record_tasks(enum dh_engine_end kind, const uint32_t *parties, uint32_t n);
/* The same for two accesses that are not parked. */
void dh_found_pair(enum dh_engine_end kind, const struct dh_engine_party pair[2]);
void dh_found_ends_record(enum dh_engine_end kind, const struct dh_engine_party *parties, uint32_t n);
void dh_found_ends_set_text(const char *text);

/* ---- values.c ---- */

/* What memory holds there; asked for in a way that cannot fail on the program's wild pointers. */
uint64_t dh_access_value_read(uint64_t address, uint32_t size);
/* The task is about to make the access that it was chosen for, or has made it. */
void dh_access_values_before(const struct dh_task *t, const void *address, size_t size);
void dh_access_values_after(const struct dh_task *t, const void *address, size_t size);

/* ---- occurrences.c ---- */

bool dh_occurrence_counts_init(void);
void dh_occurrence_counts_reset(void);
uint32_t dh_occurrence_counts_next(uint32_t task, uint32_t place);

#endif
