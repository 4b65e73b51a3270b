/* Stateless model checking: a strategy chooses at every visible operation which of the parked threads goes on.
 * Layer: search (base, event only). The driver is the engine inside the checked program, or a test with a model
 * program. What a strategy keeps lies in KEEP memory, which restoring the program leaves alone: it allocates with
 * dh_search.memory, never with malloc, and has its own tables instead of base/map.h. One search, one kernel thread. */
#ifndef DH_SEARCH_STRATEGY_H
#define DH_SEARCH_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of visible operations; the name is what witnesses say. */
enum dh_step_kind {
#define DH_STEP(id, name) DH_STEP_##id,
#include "search/step.def"
#undef DH_STEP
    DH_STEP_COUNT
};

enum dh_step_flag {
    DH_STEP_READS = 1 << 0, /* of `object`, `size` bytes, or the state of a synchronisation object */
    DH_STEP_WRITES = 1 << 1,
    DH_STEP_ATOMIC = 1 << 2, /* an atomic access: two of them are no race */
    DH_STEP_SHARED = 1 << 3, /* a read lock */
    DH_STEP_TRY = 1 << 4,    /* never waits */
    DH_STEP_TIMED = 1 << 5,  /* may end without what it waits for; then `alternative` 1 is that */
    DH_STEP_RANGE = 1 << 6,  /* has a second range, `second` */
    DH_STEP_FAILED = 1 << 7, /* as executed: changed nothing (a failed try, a signal without waiters) */
    DH_STEP_BUFFERED =
        1 << 8, /* a store that waits in its thread's buffer, `second`, until a drain takes it to memory */
    DH_STEP_COMPARES = 1 << 9,   /* an update that may turn out to be a load */
    DH_STEP_SIGNALLED = 1 << 11, /* the thread may take a signal instead, whose handler may do anything */
};

/* What a thread will do when it is chosen next. */
struct dh_step {
    uint8_t kind;        /* enum dh_step_kind */
    uint8_t order;       /* enum dh_order of atomics */
    uint16_t flags;      /* enum dh_step_flag */
    uint32_t site;       /* place in the program */
    uint64_t object;     /* address accessed, lock, condition, thread index of create, begin, join, end, cancel */
    uint64_t second;     /* mutex of a condition wait and wake; source of a copy; store buffer: dh_step_buffer;
                            of what COMPARES: its order if it is a load */
    uint32_t size;       /* bytes at object (and at second); of a barrier: how many threads it waits for */
    uint32_t occurrence; /* how often this thread came to this site before */
};

/* `second` of what concerns a store buffer: its number, and of a drain when the store was made. */
static inline uint64_t dh_step_buffer(uint32_t number, uint32_t sequence)
{
    return (uint64_t)sequence << 32 | (number + 1u);
}
static inline uint32_t dh_step_buffer_number(const struct dh_step *s)
{
    return (uint32_t)s->second - 1;
}
/* `order` of a drain: how many store barriers were before the store, and whether it comes after all before it. */
enum { DH_DRAIN_GROUP = 0x7F, DH_DRAIN_LAST = 0x80 };

/* `order` of a step IO, whose `object` is what it works on (SHARED: without changing it), and `second` the number of
 * the descriptor it names, plus 1. With none of the three it may touch anything. */
enum dh_io_touch {
    DH_IO_NUMBERS = 1 << 0, /* changes which numbers are open: `second`, or the lowest free one */
    DH_IO_CHANGES = 1 << 1, /* may change whether a descriptor is ready, */
    DH_IO_WATCHES = 1 << 2, /* and depends on that of several */
};

/* A thread, or a store buffer's drain, at a decision. Alternative 0 can be chosen if `enabled`, the others, 1 ..
 * alternatives-1, always: a thread that waits and may time out is not enabled and has two alternatives. Waiters that a
 * signal may wake are numbered by thread index, not in the order of waiting. */
struct dh_actor {
    struct dh_step step;  /* valid while parked and not ended */
    uint8_t enabled;      /* could be chosen now (alternative 0) */
    uint8_t alternatives; /* ways to go on, 0 counts as 1: time out, spurious wake-up, which waiter to wake */
    uint8_t yields;       /* its last step yielded (sched_yield, an iteration of a spin loop) */
    uint8_t ended;
};

/* The state at a decision. */
struct dh_decision {
    const struct dh_actor *actors;
    unsigned count; /* threads so far, by creation index */
    unsigned last;  /* thread of the last step; UINT32_MAX at the beginning */
    uint32_t depth; /* decisions before this one in the schedule */
};

struct dh_choice {
    uint32_t thread;
    uint32_t alternative;
};

enum dh_schedule_end {
    DH_END_DONE,    /* the program ended as it should */
    DH_END_BLOCKED, /* threads left, none enabled */
    DH_END_FAILED,  /* assertion, crash, race: something was found */
    DH_END_CUT,     /* abandoned: depth or preemption bound, redundant, or strategy said so */
};

enum { DH_CHOOSE_CUT = UINT32_MAX }; /* as thread: abandon this schedule */

/* Counts of a search; the driver may add to the first three. A search that ended is complete only if all of the last
 * four are 0. */
struct dh_search_statistics {
    uint64_t schedules, steps;
    uint32_t depth;     /* of the longest schedule */
    uint64_t redundant; /* schedules cut as equivalent to others: all enabled threads sleep */
    uint64_t bounded;   /* cut at depth_max, or not tried for preemptions_max */
    uint64_t diverged;  /* a schedule's common prefix went otherwise: the program is not deterministic */
    uint64_t unfair;    /* threads held back because they yielded again and again */
    bool no_memory;
};

/* What a strategy searches with. The driver owns it. */
struct dh_search {
    uint64_t seed;
    uint32_t depth_max;       /* decisions per schedule */
    uint32_t preemptions_max; /* UINT32_MAX: no bound */
    void *(*memory)(struct dh_search *,
                    size_t);        /* zeroed; not restored; freed with the search; NULL when the limit is reached */
    const struct dh_choice *prefix; /* `follow` does so first; `shorten` begins with it */
    uint32_t prefix_length;
    const struct dh_strategy *then; /* what `follow` goes on with; NULL: random */
    struct dh_search_target {       /* the pair of accesses to bring together, if `set` */
        bool set;
        uint32_t site[2];
        uint32_t held;   /* thread parked at the first one, not to be chosen; UINT32_MAX: none */
        uint64_t frozen; /* set of threads the second does not depend on */
        bool passes;     /* the schedule goes on when both are pending: they are executed in a random order */
    } target;
    uint32_t shard, shards; /* of `dpor`: which part of the work, of how many; 0 or 1: all of it */
    uint32_t pct_depth;     /* priorities of `pct` change that many times less one; 0: 3 */
    bool reached;           /* set by the driver, for `shorten`: this schedule reached its goal */
    struct dh_search_statistics statistics;
    void *host;
};

struct dh_strategy {
    const char *name;
    const char *summary;
    /* NULL: no memory, or it cannot work with this search. */
    void *(*start)(struct dh_search *search);
    /* The next schedule begins; false: the search is exhausted. */
    bool (*begin)(void *self);
    struct dh_choice (*choose)(void *self, const struct dh_decision *now);
    /* The chosen step was executed; `step` as it really was (a compare-exchange that failed does not write). */
    void (*done)(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step);
    /* `now`: the threads at the end, with the steps that are pending; NULL if that is not known. */
    void (*end)(void *self, enum dh_schedule_end end, const struct dh_decision *now);
    /* When begin answers false, all schedules were covered. Random walks never are. */
    bool is_systematic;
};

/* strategies.def names them all; NULL ends the list. */
extern const struct dh_strategy *const dh_strategies[];
const struct dh_strategy *dh_strategy_by_name(const char *name);

const char *dh_step_name(unsigned kind); /* any number is answered */

/* The dependence relation of partial order reduction, for steps of two threads: of two independent steps neither
 * enables, disables or changes the other, and both orders lead to the same state. */
bool dh_steps_depend(const struct dh_step *a, const struct dh_step *b);
/* Would they race: overlapping bytes, a write among them, not both atomic? */
bool dh_steps_race(const struct dh_step *a, const struct dh_step *b);

#endif
