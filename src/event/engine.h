/* The control region: how the tool tells the engine inside a checked program what to search for, and reads what it
 * found. Layer: event. A file that both map shared; the tool makes it with dh_engine_control_init, sets `job`, and
 * names it to the program in DEADHEAT_ENGINE (as host/private_files.h says); with LD_BIND_NOW=1
 * nothing has to be bound anew in every schedule. while the program
 * runs the tool only reads, except `stop`. Places are those of the variant's hooks (event/place_table.h): sites, or
 * ids above the number of sites. All offsets are from the region's beginning.
 *
 *   header and job | counters | visible: marks of each place | adversary: a byte per place | prefix: decisions |
 *   found: records, one after the other
 *
 * Explore: every thread is a coroutine; one process goes through schedule after schedule. Replay: threads are the
 * kernel's, one runs at a time; the prefix is followed once, with the program's output its own. Files and descriptors
 * are those of the search, in memory, unless FOR_REAL says otherwise. */
#ifndef DH_EVENT_ENGINE_H
#define DH_EVENT_ENGINE_H

#include "event/file_identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_ENGINE_MAGIC 0x31656e69676e6864u /* "dhngine1" */
enum { DH_ENGINE_VERSION = 9 };

enum dh_engine_mode { DH_ENGINE_EXPLORE, DH_ENGINE_REPLAY };

/* What carries a thread. AUTO: coroutines when the self-test passes, else kernel threads (one schedule, then the
 * process ends); replay always takes the kernel's. */
enum dh_engine_carrier { DH_ENGINE_AUTO, DH_ENGINE_COROUTINES, DH_ENGINE_KERNEL_THREADS };

/* How a schedule ended. */
enum dh_engine_end {
    DH_ENGINE_DONE,      /* the program exited, with any status */
    DH_ENGINE_RACE,      /* two pending accesses of overlapping bytes, one writes, not both atomic */
    DH_ENGINE_DEADLOCK,  /* threads left, none can go on */
    DH_ENGINE_LOST_WAKE, /* the same, and the signal that a waiter needs was sent before it waited */
    DH_ENGINE_ASSERTION, /* assert, abort, terminate */
    DH_ENGINE_CRASH,     /* a signal that ends the program */
    DH_ENGINE_FREED,     /* use after free, double free */
    DH_ENGINE_HANG,      /* livelock: spins while no other thread can go on, or no progress for too long */
    DH_ENGINE_ATOMICITY, /* an atomic section that is not conflict-serialisable */
    /* Does not end the schedule: two accesses that happens-before does not order, which were not pending at once. */
    DH_ENGINE_UNORDERED,
    DH_ENGINE_CUT,   /* abandoned: depth, or the strategy said so */
    DH_ENGINE_WRONG, /* exit status or output that none of `outcomes` has */
    DH_ENGINE_ENDS
};

/* The state of the search; FINISHED and later ones are final. */
enum dh_engine_state {
    DH_ENGINE_STARTING,
    DH_ENGINE_SEQUENTIAL, /* before the first thread is created: executed once, not explored */
    DH_ENGINE_RUNNING,
    DH_ENGINE_FINISHED,
    DH_ENGINE_EXHAUSTED = DH_ENGINE_FINISHED, /* the strategy has no schedule left */
    DH_ENGINE_SPENT,                          /* schedules_max or time_max_ns */
    DH_ENGINE_STOPPED,                        /* as asked, or after the first finding if that was asked */
    DH_ENGINE_NO_THREADS,                     /* the program ended without having created one */
    DH_ENGINE_REPLAYED,                       /* the prefix was followed to its end */
    DH_ENGINE_DIVERGED,                       /* the prefix could not be followed: see `diverged_at` */
    DH_ENGINE_CANNOT                          /* cannot explore: see `text` */
};

enum dh_engine_flag {
    DH_ENGINE_SPURIOUS = 1 << 0, /* condition waits may end without a signal */
    DH_ENGINE_STOP_AT_FIRST =
        1 << 1,               /* end at the first finding other than UNORDERED; with a target, when that is reached */
    DH_ENGINE_GO_ON = 1 << 2, /* replay: after the prefix, to the program's own end, without preemption */
    DH_ENGINE_ALL_VISIBLE = 1 << 3,  /* every instrumented access is visible, whatever `visible` says */
    DH_ENGINE_NO_RACES = 1 << 4,     /* pending races are not looked for */
    DH_ENGINE_OUTPUT = 1 << 5,       /* standard output and error are not discarded */
    DH_ENGINE_TRAP = 1 << 6,         /* replay: SIGTRAP where the prefix ends, for a debugger */
    DH_ENGINE_NO_ORDER = 1 << 7,     /* accesses at places that are not visible are not checked for order */
    DH_ENGINE_EXTEND = 1 << 8,       /* unordered accesses become visible, and the strategy begins anew */
    DH_ENGINE_NO_FSGSBASE = 1 << 9,  /* thread pointers are set by system call, as without the instruction */
    DH_ENGINE_COVERAGE = 1 << 11,    /* progress counts pairs of places executed in both orders */
    DH_ENGINE_FORK = 1 << 10,        /* every schedule in a child of its own, not restored: for comparison */
    DH_ENGINE_ONLY_TARGET = 1 << 12, /* only ends with target_signature are kept, and of those the last */
    DH_ENGINE_LOOSE = 1 << 13,       /* replay: decisions that do not fit any more are left out */
    DH_ENGINE_COLLECT = 1 << 14,     /* exit statuses and outputs of schedules are added to `outcomes` */
    DH_ENGINE_JUDGE = 1 << 15,       /* and compared with them: one that is not there is the end WRONG */
    DH_ENGINE_SYSTEMATIC = 1 << 16,  /* the strategy chooses among the values of a load, not the heuristic */
    DH_ENGINE_INLINE = 1 << 17,   /* loads at adversarial places that are not visible are served, too: not replayed */
    DH_ENGINE_FOR_REAL = 1 << 18, /* kernel threads: files, descriptors and signals are the kernel's, not modelled */
    DH_ENGINE_IN_TIME =
        1 << 19, /* time passes only when no thread can go on, and timers expire in their order, as natively */
    DH_ENGINE_FRESH =
        1 << 20, /* each schedule in a fresh process, where system calls that cannot be undone are performed */
    DH_ENGINE_CONTEXTS =
        1 << 21, /* replay: locks of pairs of accesses, and stacks of unordered ones at the target's places */
    DH_ENGINE_UNPROTECTED =
        1 << 22, /* with EXTEND: places become visible, too, that only locks put in order and none protects */
    DH_ENGINE_ONLY_VISIBLE = 1 << 23, /* plain accesses at places that are not visible are not even counted: nobody asks
                                         for their order, and their hooks are removed (runtime/engine/hook_removal.h) */
    DH_ENGINE_SPARE_BUSY = 1 << 24,   /* with it: visible places to which the recorded run comes very often are not */
    DH_ENGINE_WATCHDOGS = 1 << 25, /* handlers of timers end the process: those expire when nothing else can happen */
};

/* What the table `visible` says of a place. Sections have numbers from 1 to 15. */
typedef uint16_t dh_engine_marks;
enum dh_engine_mark {
    DH_ENGINE_VISIBLE = 1 << 0,
    DH_ENGINE_SECTION_ENTRY = 1 << 1,       /* an atomic section begins with this access */
    DH_ENGINE_SECTION_END = 1 << 2,         /* one ends with this access, */
    DH_ENGINE_SECTION_ACCESS = 1 << 3,      /* an access of what belongs to a section */
    DH_ENGINE_SECTION_EXIT = 1 << 4,        /* one is given up here */
    DH_ENGINE_SECTION_ALLOW_READ = 1 << 5,  /* ... although others have read, */
    DH_ENGINE_SECTION_ALLOW_WRITE = 1 << 6, /* or written what belongs to it */
    DH_ENGINE_SECTION_ENTRY_SHIFT = 8,      /* the number of the one that begins, */
    DH_ENGINE_SECTION_END_SHIFT = 12,       /* and of the one that ends */
    DH_ENGINE_SECTION_NUMBER = 15,
};

/* The byte of a place in the table `adversary`. */
enum dh_engine_adversary {
    DH_ENGINE_STALE = 1 << 0, /* loads answer what the model allows, not only what memory holds; must be visible */
    DH_ENGINE_TEARS = 1 << 1, /* and loads of eight bytes may be torn into two halves */
    /* Of many accesses one in 2^N is a step and served, N being what is left of the byte: of those of a thread in turn,
     * or those of some addresses, all of them. */
    DH_ENGINE_BY_ADDRESS = 1 << 2,
    DH_ENGINE_RATE_SHIFT = 3,
    DH_ENGINE_RATE_NEWEST = 31, /* instead of N: heuristics answer the newest there, and no step is made of it */
    /* Set by the engine at a place that is not adversarial: it accesses a location that is. */
    DH_ENGINE_MET = DH_ENGINE_BY_ADDRESS,
};

/* One decision: `thread` (creation index, main is 0), parked before the visible operation `kind` at `place` for the
 * `occurrence`th time (from 0), went on in its `alternative`th way; of a load under a memory model that is which of the
 * values it may read, 0 the newest; DH_ENGINE_FUTURE and above: which of the foreseen writes. A drain is a
 * decision of the thread that stored, at the place and occurrence of the store; `alternative`: which piece of a wide
 * one. `object` is where; it may differ in another run. */
/* The first decision of a schedule may stand for many (kind 0): its first `object` steps are those of the undisturbed
 * run, in which each thread goes on for at most `occurrence` steps before the next one does
 * (runtime/engine/schedule/undisturbed.h). */
struct dh_engine_decision {
    uint32_t thread;
    uint32_t place;
    uint32_t occurrence;
    uint16_t alternative;
    uint8_t kind;  /* enum dh_step_kind */
    uint8_t flags; /* the low flags of the step */
    uint64_t object;
};

static inline bool dh_engine_is_undisturbed(const struct dh_engine_decision *d)
{
    return !d->kind && d->object;
}

/* The value before and after the access of a step, of at most eight bytes. */
struct dh_engine_value {
    uint64_t before, after;
    uint32_t size;
    uint32_t has; /* 1: before, 2: after */
};

/* A thread that takes part in an end, and the step that it was about to do. */
struct dh_engine_party {
    uint32_t thread;
    uint32_t place;
    uint32_t occurrence;
    uint32_t size;
    uint64_t object;
    uint64_t second; /* as of the step; of a found access of at most eight bytes: what memory holds there */
    uint8_t kind;    /* enum dh_step_kind */
    uint8_t order;
    uint16_t flags; /* enum dh_step_flag */
    uint32_t unused;
};

enum {
    DH_ENGINE_PARTIES = 16,
    DH_ENGINE_TEXT = 512,
    DH_ENGINE_FRAMES = 12,
    DH_ENGINE_PAIR = 2,  /* of the parties, those whose locks are kept, */
    DH_ENGINE_LOCKS = 6, /* and how many of each */
    DH_ENGINE_ADDED = 4096,
    DH_ENGINE_LIBRARIES = 48,
    DH_ENGINE_PATH = 512,
    DH_ENGINE_STALE_READS = 8,
    DH_ENGINE_OUTCOMES = 256,
    DH_ENGINE_WORKS = 32,
    DH_ENGINE_SPARED = 256,
    DH_ENGINE_ELEMENTS = 16,
    DH_ENGINE_RELATIVES = 512
};

/* Places of the executable come first, then those of the libraries that the tool names in `libraries`. A library that
 * it does not know has a range from the first number here on, where nothing can be made visible. */
enum { DH_PLACES_OF_EXECUTABLE = 1 << 25, DH_PLACES_OF_LIBRARY = 1 << 20 };

/* An instrumented library. The tool says which file has which places, the engine adds those that it does not name. */
struct dh_engine_library {
    struct dh_file_identity file; /* that is loaded */
    uint32_t first, count;        /* places */
    char path[DH_ENGINE_PATH];
};

/* Where a module lies: the executable, then the libraries in their order; start 0: it is not loaded. */
struct dh_engine_image {
    uint64_t start, end;
    uint64_t bias; /* what is added to addresses of its file */
};

/* How a schedule that came to its end did so. The order of the lines of standard output and error does not count. */
struct dh_engine_outcome {
    int32_t status;
    uint32_t times;
    uint64_t output, errors;
};

/* A write that a load may read from; place UINT32_MAX: the initial value. */
struct dh_engine_write {
    uint32_t thread, place;
    uint64_t value;
};

/* A write that a load read from before it happened; it must happen, or the schedule is not valid. */
enum { DH_ENGINE_FORESEEN = 64, DH_ENGINE_FUTURE = 0x8000 };
struct dh_engine_foreseen {
    uint32_t thread, place, occurrence, unused;
    uint64_t value;
};

/* Bytes of an array that are always watched, since a race was seen on them. On the heap: in every block of
 * that size, or, if ANY, that is large enough; block 0: of the executable, `offset` is the address as its file has it.
 */
#define DH_ENGINE_ANY_BLOCK UINT64_MAX
struct dh_engine_element {
    uint64_t block, offset;
};

/* A load that did not answer the newest value; with store buffers: not that of a store that waits in another's. */
struct dh_engine_stale_read {
    uint32_t decision; /* number of it */
    uint32_t thread, place;
    uint16_t size;
    uint16_t candidates;
    uint64_t object;
    struct dh_engine_write got, newest;
    uint32_t
        is_torn; /* halves of different writes; `got` is the one of the older half, with the value as it was read */
    uint32_t is_future; /* `got` was not written yet */
};

/* A lock that a thread holds, and where it acquired it; object 0: none. */
struct dh_engine_lock {
    uint64_t object;
    uint32_t place;
    uint32_t is_shared;
    uint64_t callers[DH_ENGINE_FRAMES];
};

/* A found end with the schedule that leads to it. Records follow each other, `size` bytes each (a multiple of 8); those
 * below `found_used` are complete. Ends of the same kind at the same places are kept once. */
struct dh_engine_found {
    uint32_t size;
    uint16_t kind;      /* enum dh_engine_end */
    uint16_t n_parties; /* may exceed what is kept */
    uint64_t schedule;  /* number of the schedule, from 1 */
    uint64_t seed;
    int32_t signal;   /* crash, abort; 0: none */
    int32_t status;   /* exit status */
    uint64_t address; /* that the crash was about */
    struct dh_engine_image images[1 + DH_ENGINE_LIBRARIES];
    uint32_t n_decisions;
    uint32_t threads;       /* that the schedule had */
    uint32_t visible_added; /* to replay it, the first so many of progress.added must be visible, no more */
    uint32_t n_values;      /* as many as decisions, behind them, if it was replayed; else 0 */
    uint64_t time_ns;       /* since the search began */
    uint32_t spared;        /* to replay it, the first so many of progress.spared must not be visible */
    uint32_t unused;
    uint32_t n_stale; /* loads that did not answer the newest value; may exceed what is kept */
    uint32_t n_foreseen;
    struct dh_engine_outcome outcome;
    struct dh_engine_stale_read stale[DH_ENGINE_STALE_READS];
    struct dh_engine_foreseen foreseen[DH_ENGINE_FORESEEN];
    char text[DH_ENGINE_TEXT]; /* of a failed assertion */
    struct dh_engine_party parties[DH_ENGINE_PARTIES];
    /* Who called each of them, innermost first: return addresses; 0: no more. */
    uint64_t callers[DH_ENGINE_PARTIES][DH_ENGINE_FRAMES];
    struct dh_engine_lock locks[DH_ENGINE_PAIR][DH_ENGINE_LOCKS]; /* if asked for (CONTEXTS), outermost first */
    struct dh_engine_decision decisions[];
};

/* NULL: there are none. `f` must be whole. */
static inline const struct dh_engine_value *dh_engine_found_values(const struct dh_engine_found *f)
{
    uint64_t size = sizeof *f + (uint64_t)f->n_decisions * sizeof *f->decisions +
                    (uint64_t)f->n_values * sizeof(struct dh_engine_value);
    return f->n_values == f->n_decisions && f->n_values && size <= f->size
               ? (const struct dh_engine_value *)&f->decisions[f->n_decisions]
               : NULL;
}

enum { DH_ENGINE_NEAR = 64 };

struct dh_engine_job {
    uint32_t mode;    /* enum dh_engine_mode */
    uint32_t carrier; /* enum dh_engine_carrier */
    char strategy[32];
    uint64_t seed;
    uint64_t schedules_max;   /* 0: no limit */
    uint64_t time_max_ns;     /* 0: no limit */
    uint32_t depth_max;       /* decisions per schedule; 0: 1,000,000 */
    uint32_t preemptions_max; /* UINT32_MAX: no bound */
    uint32_t flags;           /* enum dh_engine_flag */
    uint32_t look_for;        /* bit per enum dh_engine_end that is to be kept; 0: all but DONE and CUT */
    uint32_t target_place[2]; /* 0 and 0: none */
    uint32_t target_held;     /* UINT32_MAX: none */
    uint32_t prefix_length;
    uint64_t target_frozen;
    char then[32];             /* strategy that `follow` goes on with */
    uint32_t hang_ms;          /* that a thread may run without a visible operation; 0: 5000 */
    uint32_t pct_depth;        /* 0: the strategy's own */
    uint32_t shard, shards;    /* of `dpor`: which part of the work, from 0, of how many; 0 or 1: all of it */
    uint64_t target_signature; /* with ONLY_TARGET: of the end (dh_engine_signature) */
    char model[16];            /* of memory (memory/model.h); "": loads answer what memory holds */
    char heuristic[24];        /* which of the values a load answers */
    uint32_t fairness;         /* after so many equal stale reads of one place the newest; 0: the heuristic's own */
    uint32_t threads;          /* that the model shall know of; 0: 256 */
    uint64_t follow;           /* identity of the process that is explored; 0: the first one; NOBODY: none */
    uint32_t start;            /* where schedules begin: enum dh_engine_start */
    uint32_t start_least;      /* steps of a run that is long; 0: 5,000 */
    uint32_t start_first, start_last; /* as an earlier search with the same visible places found; 0, 0: not known */
    uint64_t start_max_ns;            /* for finding out; 0: no limit. A quarter of all time there is */
    uint64_t start_quantum;           /* that was found with them */
    uint32_t start_near[DH_ENGINE_NEAR], n_near; /* steps before places that threads came close at */
    uint64_t reserved[1];
};

/* Where schedules begin when the program's undisturbed run is long: near the end of the beginning that all schedules
 * then have in common. Visible places count; without any in two threads, all steps do. */
enum dh_engine_start {
    DH_ENGINE_FROM_BEGINNING,
    DH_ENGINE_BEFORE_LAST,  /* where last two threads still come to a visible place */
    DH_ENGINE_BEFORE_FIRST, /* before any does */
    DH_ENGINE_IN_BETWEEN,   /* anywhere before BEFORE_LAST, by the seed */
};

/* A process of the run that has the runtime: the first one, its children and theirs, each as often as it executes a
 * program. Those whose pid is 0 are not complete. */
#define DH_ENGINE_NOBODY UINT64_MAX
struct dh_engine_relative {
    uint64_t identity; /* the same in every run; 0: the first process */
    uint64_t command_hash;
    uint32_t pid;
    uint32_t made_threads;
    uint8_t build[16];
    char program[DH_ENGINE_PATH]; /* its file */
    char command[192];            /* its words */
};

/* Why what a systematic search tried is not all there is. */
enum dh_engine_gap {
    DH_GAP_PLACES = 1 << 0,   /* unordered accesses at places that cannot be made visible: of libraries, or too many */
    DH_GAP_MAPPINGS = 1 << 1, /* mapping calls of more bytes than are compared with accesses */
    DH_GAP_CHILDREN = 1 << 2, /* a child that has ended could be missed by WNOHANG more often */
    DH_GAP_LIBRARY = 1 << 3,  /* threads meet inside a library that is not instrumented */
};

/* Written by the engine alone. */
struct dh_engine_progress {
    uint32_t state;   /* enum dh_engine_state */
    uint32_t carrier; /* that was taken */
    uint64_t schedules;
    uint64_t steps; /* visible operations of all of them */
    uint64_t ends[16];
    uint64_t begun_ns, now_ns; /* monotonic clock: beginning of the search, last update */
    uint64_t cpu_ns;           /* of the process, at the last update: for rates on a busy machine */
    uint64_t dirty_pages;      /* copied back by every restore */
    uint32_t depth_most;
    uint32_t threads_most;
    uint32_t diverged_at;            /* decision that could not be followed */
    struct dh_engine_party diverged; /* the step that the thread was about to do instead */
    /* Of the strategy (search/strategy.h, struct dh_search_statistics): an exhausted search is complete if these are 0.
     */
    uint64_t redundant, bounded, nondeterministic, unfair;
    uint32_t no_memory;
    uint32_t visible_added; /* places that EXTEND made visible, in this order: */
    uint32_t added[DH_ENGINE_ADDED];
    uint32_t restarts;    /* of the strategy, for that */
    uint64_t lost;        /* findings for which there was no room */
    int32_t status;       /* replay: exit status or -signal */
    uint32_t is_exact;    /* exhausted by a systematic strategy, values of loads included */
    char text[256];       /* why the engine cannot, or a warning */
    uint64_t stack[16];   /* where that was: return addresses less the load address of the program, innermost first */
    uint64_t pairs, both; /* of places with dependent steps: seen, and seen in both orders */
    uint32_t uncovered;   /* enum dh_engine_gap: what cannot be made a step, or only in part */
    uint32_t unknown_libraries; /* instrumented ones that the tool did not name: their accesses were not seen */
    uint64_t operations;        /* accesses and visible steps of all schedules that came to their end */
    uint64_t operations_most;
    uint64_t loads, open_loads,
        stale_loads;          /* at adversarial places: all, with a choice, that did not read the newest value */
    uint64_t stale_schedules; /* in which one did not */
    uint64_t unjustified;     /* schedules that foresaw writes which did not happen */
    uint64_t helpers;         /* threads, by number, that waited for signals of which none came from outside, and the
                                 program ended well */
    uint64_t narrowed;        /* times the memory model, or what serves its values, left values out */
    uint64_t stores;          /* to adversarial locations */
    uint32_t buffer_most, buffer_written; /* writes of one of them that hb kept at most, and would without its rules */
    uint64_t shared;                      /* adversarial locations that two threads accessed, of all schedules */
    uint64_t locations;                   /* adversarial ones of a schedule, of eight bytes each: most */
    /* Of the first complete schedules: operations until main was the only thread left, without adversarial loads and
     * yields, since a thread that polls makes no progress. */
    uint64_t works[DH_ENGINE_WORKS];
    uint64_t n_works;
    uint64_t irrevocable; /* CANNOT: because of a call that cannot be undone; FRESH can host it */
    uint64_t abandoned; /* schedules cut at the engine's own limit of depth, in a loop, or before a call that it refuses
                           (`text`): what comes after was not seen */
    uint64_t started_at;     /* step at which all schedules begin to differ; 0: the first */
    uint64_t recorded_steps; /* of the undisturbed run, if it was long */
    uint64_t again;          /* the search ended early: with `added` visible schedules would begin elsewhere */
    uint32_t start_first, start_last;
    uint64_t start_quantum;
    uint32_t start_near[DH_ENGINE_NEAR], n_near;
    uint32_t hides;         /* ONLY_VISIBLE holds: replays need it, too */
    uint32_t hides_waiting; /* the search ended early: a thread may wait for what is hidden */
    uint64_t hooks_removed; /* calls of them */
    uint32_t watchdogs;     /* WATCHDOGS holds from here on: replays need it, too */
    uint32_t n_spared;      /* busy places that are not visible any more: */
    uint32_t spared[DH_ENGINE_SPARED];
};

struct dh_engine_control {
    uint64_t magic;
    uint32_t version;
    uint32_t stop; /* set by the tool: end as soon as possible */
    uint64_t size;
    uint64_t visible_at, visible_size; /* places, of which each has its dh_engine_marks; place 0: ends of threads, which
                                          free their variables */
    uint64_t adversary_at, adversary_size; /* a byte per place: dh_engine_adversary */
    uint64_t prefix_at, prefix_size;       /* struct dh_engine_decision[job.prefix_length] */
    uint64_t found_at, found_size;
    uint64_t found_used; /* bytes of complete records */
    struct dh_engine_job job;
    struct dh_engine_progress progress;
    uint32_t n_outcomes, n_foreseen;
    struct dh_engine_foreseen foreseen[DH_ENGINE_FORESEEN]; /* replay: those that decisions name */
    struct dh_engine_outcome outcomes[DH_ENGINE_OUTCOMES];  /* set by the tool, or collected */
    struct dh_engine_element elements[DH_ENGINE_ELEMENTS];  /* always served where others are sampled (BY_ADDRESS) */
    uint32_t n_elements, n_libraries;
    struct dh_engine_library libraries[DH_ENGINE_LIBRARIES];
    uint32_t n_relatives;                                     /* may exceed what is kept */
    struct dh_engine_relative relatives[DH_ENGINE_RELATIVES]; /* in the order in which they came */
};

static inline dh_engine_marks *dh_engine_visible(struct dh_engine_control *c)
{
    return (dh_engine_marks *)((char *)c + c->visible_at);
}

static inline uint8_t *dh_engine_adversary(struct dh_engine_control *c)
{
    return (uint8_t *)c + c->adversary_at;
}

static inline struct dh_engine_decision *dh_engine_prefix(struct dh_engine_control *c)
{
    return (struct dh_engine_decision *)((char *)c + c->prefix_at);
}

/* The record at `offset` of the found area, from 0; NULL after the last. */
static inline struct dh_engine_found *dh_engine_found_at(struct dh_engine_control *c, uint64_t offset)
{
    return offset < __atomic_load_n(&c->found_used, __ATOMIC_ACQUIRE)
               ? (struct dh_engine_found *)((char *)c + c->found_at + offset)
               : NULL;
}

/* Bytes that a control region for so many places, decisions of a prefix and bytes of findings takes. */
uint64_t dh_engine_control_size(uint32_t places, uint32_t prefix, uint64_t found);
/* Lays it out in zeroed memory of that size, with the default job: explore at random without end. */
void dh_engine_control_init(struct dh_engine_control *c, uint32_t places, uint32_t prefix, uint64_t found);
/* Is it whole: what it says lies within `size` bytes? */
bool dh_engine_control_valid(const struct dh_engine_control *c, uint64_t size);

/* Identifies an end: its kind, and of each party the step and its place; of a failed assertion its text. Never 0. */
uint64_t dh_engine_signature(uint32_t kind, const struct dh_engine_party *parties, uint32_t n, const char *text);

extern const char *const dh_engine_end_names[DH_ENGINE_ENDS];
const char *dh_engine_state_name(uint32_t state);

#endif
