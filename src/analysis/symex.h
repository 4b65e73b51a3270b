/* Symbolic execution of the program from every thread entry (003 §3.4): accesses and synchronisation of each abstract
 * thread, with the locks held and the threads started and joined. Layer: analysis.
 * Context-sensitive: a function is executed once for each calling context, that is what its parameters are bound to as
 * far as it is shared, the locks held, the threads started and joined. Results are flat arrays with indices. Owned by
 * struct dh_symex. */
#ifndef DH_ANALYSIS_SYMEX_H
#define DH_ANALYSIS_SYMEX_H

#include "analysis/points_to_unify.h"
#include "analysis/time_limit.h"

#define DH_ABSTRACT_THREADS_MAX 64 /* the last one stands for all others */
typedef uint64_t dh_thread_set;    /* a set */

#define DH_THREAD_OWNER_UNKNOWN (UINT32_MAX - 1)

/* An abstract thread: an instruction that starts threads, and the function that they run. */
struct dh_abstract_thread {
    uint32_t kind;     /* dh_root_kind, or DH_ROOT_COUNT: started by `create` */
    uint32_t inst;     /* the create or register; DH_NONE: may exist at any time */
    uint32_t function; /* its entry */
    uint32_t instance; /* points_to.instances */
    bool unique;       /* at most one of it in a run */
    bool sequential;   /* runs when no other thread does: constructors, destructors */
    bool own_argument; /* each instance is passed another object, or another element */
    dh_thread_set creators;
    dh_thread_set joined_at_start; /* whenever it is started, no thread of these that its creator started is alive */
    dh_thread_set joined_at_start_heuristic; /* the same by heuristic_joins.h */
    uint32_t owner; /* node: each such thread is passed another one of these objects, see symex_thread_owners.c */
    uint32_t loop;  /* symex.loops: it is passed the element of the iteration that starts it; 0 = no such loop */
    int32_t handle_offset; /* of its handle in the element it is passed, INT32_MIN: elsewhere */
};

/* A loop that visits every element once, by an induction variable. */
struct dh_element_loop {
    uint32_t function, header;
};

enum dh_symex_event_kind {
    DH_SYMEX_READ,
    DH_SYMEX_WRITE,
    DH_SYMEX_LOCK,
    DH_SYMEX_WAIT,
    DH_SYMEX_SIGNAL,
    DH_SYMEX_BARRIER,
    DH_SYMEX_JOIN,
    DH_SYMEX_POST,
    DH_SYMEX_AWAIT
};

enum dh_symex_event_flag {
    DH_SYMEX_ATOMIC = 1 << 0,
    DH_SYMEX_FRESH = 1 << 1,         /* on an object that has not escaped yet */
    DH_SYMEX_OWN = 1 << 2,           /* on the object that this thread instance was passed as its argument */
    DH_SYMEX_OWN_REACHED = 1 << 3,   /* on an object that is only reachable from that one */
    DH_SYMEX_UNKNOWN_INDEX = 1 << 4, /* somewhere from the offset on */
    DH_SYMEX_FREE = 1 << 5,
    DH_SYMEX_LIBRARY = 1 << 6,
    DH_SYMEX_SHARED_LOCK = 1 << 7, /* LOCK: for reading */
    DH_SYMEX_TRY = 1 << 8,
    DH_SYMEX_LOCK_USE = 1 << 9,        /* of a lock as data: initialised (written) or used (read) */
    DH_SYMEX_IGNORED = 1 << 10,        /* an annotation switches checking off */
    DH_SYMEX_OWN_INDEX = 1 << 11,      /* the element's index is a number that no other instance has */
    DH_SYMEX_NOT_PASSED = 1 << 14,     /* on the element of this loop iteration, not yet passed to a thread */
    DH_SYMEX_OWN_NEAR = 1 << 13,       /* as OWN, unless an index leaves the object */
    DH_SYMEX_OWN_RANGE = 1 << 18,      /* the element's index is computed from this instance's argument */
    DH_SYMEX_OWN_FOUND = 1 << 21,      /* in an object whose pointer was loaded by such an index */
    DH_SYMEX_SOLELY_OWNED = 1 << 20,   /* on what a library object owns that only this thread can reach */
    DH_SYMEX_CONSTRUCTION = 1 << 19,   /* on an object that the library is constructing or destroying */
    DH_SYMEX_ALLOCATED_HERE = 1 << 17, /* on an object that this thread allocated */
    DH_SYMEX_UNWINDING = 1 << 16,      /* only while an exception propagates */
    DH_SYMEX_ELEMENT_JOINED = 1 << 15  /* on an element whose thread was joined before */
};

/* How a held lock is related to the accessed object. */
enum dh_lock_relation {
    DH_RELATION_NONE,
    DH_RELATION_SAME,   /* in the same instance (or element) as the data */
    DH_RELATION_OWNER,  /* in the instance that is the only one to point to the data */
    DH_RELATION_INDEX,  /* selected by the same index */
    DH_RELATION_NEAR,   /* as SAME or OWNER, unless an index leaves the object */
    DH_RELATION_REACHED /* in an object through which the data were found */
};

/* A lock of a library, or one that the program builds of atomics (heuristic, atomic_sync.h). */
enum dh_sync_kind {
    DH_SYNC_LIBRARY,
    DH_SYNC_ATOMIC_LOCK,
    DH_SYNC_ATOMIC_LAST, /* only the last thread, or the first, to count down or up gets here */
    DH_SYNC_ATOMIC_FLAG  /* no lock: an atomic was seen to have a certain value */
};

/* A lock that is held, or a guard on an atomic that holds. */
struct dh_symex_lock {
    uint32_t node;
    int32_t offset;
    uint32_t expr; /* value number of the instance, in terms of the function; 0 = lost */
    uint32_t inst; /* where it was acquired last */
    uint16_t mode; /* 0 exclusive, 1 for reading */
    uint16_t relation;
    uint32_t index;          /* value number of the index of its element, 0 = none */
    bool element;            /* one of an array of locks */
    uint8_t recursion;       /* how often more it was acquired by the thread that holds it */
    uint32_t reached_params; /* parameters of the function that were found through its object, as bits */
    uint8_t sync_kind;       /* dh_sync_kind */
    bool pending;            /* of atomics, but effective only after a fence that is still to come */
    bool test_known;         /* FLAG: which value was seen: `test` (dh_compare) than `number` */
    uint8_t test;
    int64_t number;
};
static inline bool dh_symex_lock_is_flag(const struct dh_symex_lock *h)
{
    return h->sync_kind == DH_SYNC_ATOMIC_FLAG || h->pending;
}
static inline bool dh_symex_lock_same_kind(const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    return a->sync_kind == b->sync_kind && a->pending == b->pending && a->test_known == b->test_known &&
           a->test == b->test && a->number == b->number;
}

struct dh_lockset {
    uint32_t first, n; /* in symex.held */
};

/* Position of a thread between starts, joins and barriers. */
struct dh_order_state {
    dh_thread_set started;          /* may have been */
    dh_thread_set joined;           /* none that this thread started is alive any more */
    dh_thread_set joined_heuristic; /* the same by a heuristic, not by proof */
    uint64_t phase;                 /* barriers that may have been the last one passed, as bits; 1 = none yet */
};

struct dh_symex_event {
    uint32_t inst;
    uint16_t thread, kind;
    uint32_t flags; /* dh_symex_event_flag */
    uint32_t node;
    int32_t offset;        /* in the node */
    uint32_t size;         /* 0 = not known */
    uint32_t stride;       /* of the element it lies in, 0 = none */
    uint32_t index_extent; /* bytes from the offset on that its index may reach, UINT32_MAX = any */
    uint32_t lockset;      /* held, for LOCK: before */
    uint32_t order;
    uint32_t context;
    uint32_t loop;                /* NOT_PASSED: which */
    dh_thread_set element_joined; /* ELEMENT_JOINED: threads that were passed the element; JOIN: the joined threads */
    uint32_t only_instance;       /* number + 1 of the one thread instance that gets here, 0 = any */
    uint32_t second;              /* WAIT: node of the lock; LOCK: the acquired lock in symex.held */
    uint32_t flags_seen;          /* READ, WRITE: atomic flags seen to have certain values, a lockset */
};

/* Calling context: how a function was reached first, for call paths. */
struct dh_context {
    uint32_t function, caller, call; /* caller: context, DH_NONE: a thread entry */
    uint32_t thread;
};

/* An event happens in a context. */
struct dh_event_context {
    uint32_t event, context;
};
struct dh_context_call {
    uint32_t context, call, function, callee; /* callee: context, DH_NONE: pruned, nothing shared there */
};

/* When a call has been executed before (003, tables 3.5 and 3.6). Results count with DH_CACHE_NORMAL alone, the others
 * are for measuring. */
enum dh_call_cache {
    DH_CACHE_NORMAL,  /* contexts differ by the shared objects that parameters are bound to */
    DH_CACHE_BEST,    /* an object that is not shared leads to none that is */
    DH_CACHE_WORST,   /* contexts differ by all objects that parameters are bound to */
    DH_CACHE_NONE,    /* never, except in recursions and beyond the number of contexts that is kept */
    DH_CACHE_UNPRUNED /* as WORST, and calls in which nothing is shared are executed, too */
};

struct dh_site_table;

struct dh_symex {
    const struct dh_program *program;
    struct dh_points_to *points_to;
    DH_VEC(struct dh_abstract_thread) threads;
    DH_VEC(struct dh_symex_event) events;
    DH_VEC(struct dh_symex_lock) held;
    DH_VEC(struct dh_lockset) locksets; /* 0 = none held */
    DH_VEC(struct dh_order_state) orders;
    DH_VEC(struct dh_context) contexts;
    DH_VEC(struct dh_element_loop) loops;           /* 0 = none */
    bool keep_contexts;                             /* set by the caller: the next two are kept */
    DH_VEC(struct dh_event_context) event_contexts; /* some twice */
    DH_VEC(struct dh_context_call) context_calls;   /* by context */
    uint8_t *allocations;                           /* by node: 0, 1, 2 = more */
    uint8_t
        *multiply_referenced; /* by node: pointers to it are stored after it escaped, so several places may hold it */
    uint64_t steps, max_steps;
    uint64_t n_pruned, n_cached; /* calls not executed: nothing shared in them; executed before (003 §3.4.2) */
    uint32_t n_widened;          /* functions, by thread, with so many contexts that some share one abstract state */
    /* Set by the caller: declared names, asked by heuristics only (analysis/source_names.h); NULL: there are none. */
    const struct dh_site_table *sites;
    enum dh_call_cache cache;
    struct dh_andersen *andersen; /* set by the caller: refines what unification merged; NULL = none */
    bool strict; /* set by the caller: for proofs; what unknown code or a pointer to a TLS variable reaches is shared */
    bool incomplete;             /* the budget was used up: what was not reached is not proven safe */
    struct dh_time_limit *limit; /* set by the caller, for what may end early; NULL: none */
    uint32_t n_threads_left;     /* abstract threads that were not executed when the limit was over */
    struct dh_symex_state *state;
};

void dh_symex_init(struct dh_symex *w, struct dh_points_to *s);
void dh_symex_run(struct dh_symex *w);
void dh_symex_release(struct dh_symex *w);
/* At most one runtime object: a global, or something allocated once. */
bool dh_symex_is_unique(const struct dh_symex *w, uint32_t node);
/* Numbers of events, sorted by object and offset. */
void dh_symex_sort_by_place(const struct dh_symex *w, uint32_t *events, size_t n);

#endif
