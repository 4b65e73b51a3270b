/* Symbolic execution of the program from every place where a thread begins (003 §3.4): who accesses which object under
 * which locks, before and after which threads. Layer: analysis.
 * A function is walked once for each context: what its parameters are bound to as far as that is shared, the locks
 * held, the threads started and joined. Results are flat arrays with indices. Owned by struct dh_symex. */
#ifndef DH_ANALYSIS_SYMEX_H
#define DH_ANALYSIS_SYMEX_H

#include "analysis/points_to_unify.h"

#define DH_ABSTRACT_THREADS_MAX 64 /* the last one stands for all others */
typedef uint64_t dh_thread_set;    /* a set */

#define DH_THREAD_OWNER_UNKNOWN (UINT32_MAX - 1)

/* An abstract thread: a place that starts threads and what runs in them. */
struct dh_abstract_thread {
    uint32_t kind;     /* dh_root_kind, or DH_ROOT_COUNT: by `create` */
    uint32_t inst;     /* the create or register; DH_NONE: may be there at any time */
    uint32_t function; /* where it begins */
    uint32_t instance; /* points_to.instances */
    bool unique;       /* at most one of it in a run */
    bool sequential;   /* runs when nobody else does: constructors, destructors */
    bool own_argument; /* each instance is given another object, or another element */
    dh_thread_set creators;
    dh_thread_set over; /* whenever one of these is started, none of those that its creator started is alive */
    dh_thread_set joined_at_start_heuristic; /* the same, as far as ended.h tells */
    uint32_t keeper;       /* node: each such thread is given another one of these objects, see walk_keepers.c */
    uint32_t loop;         /* symex.loops: each round gives it the element of that round; 0 = no such loop */
    int32_t handle_offset; /* of its handle in the element it is given, INT32_MIN: elsewhere */
};

/* A loop that goes once through elements by a counter. */
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
    DH_SYMEX_FRESH = 1 << 1,         /* on an object nobody else knows yet */
    DH_SYMEX_OWN = 1 << 2,           /* on the object that this very thread instance was given */
    DH_SYMEX_OWN_REACHED = 1 << 3,   /* on an object that only hangs on that one */
    DH_SYMEX_UNKNOWN_INDEX = 1 << 4, /* somewhere from the offset on: index not known */
    DH_SYMEX_FREE = 1 << 5,
    DH_SYMEX_LIBRARY = 1 << 6,
    DH_SYMEX_SHARED_LOCK = 1 << 7, /* LOCK: for reading */
    DH_SYMEX_TRY = 1 << 8,
    DH_SYMEX_LOCK_USE = 1 << 9,      /* of a lock as a datum: made (written) or used (read) */
    DH_SYMEX_IGNORED = 1 << 10,      /* the source says not to look */
    DH_SYMEX_OWN_INDEX = 1 << 11,    /* element picked by a number that no other instance has */
    DH_SYMEX_TAKEN = 1 << 12,        /* object was taken out of a shared place under a lock: by custom the taker's */
    DH_SYMEX_NOT_PASSED = 1 << 14,   /* on the element of this round of a loop, not yet given to a thread */
    DH_SYMEX_OWN_NEAR = 1 << 13,     /* as OWN, unless an index leaves the object */
    DH_SYMEX_OWN_RANGE = 1 << 18,    /* element picked by a number that comes from what this instance was given */
    DH_SYMEX_OWN_FOUND = 1 << 21,    /* in what was found by such a number */
    DH_SYMEX_SOLELY_OWNED = 1 << 20, /* on what an object owns that only this thread knows */
    DH_SYMEX_CONSTRUCTION =
        1 << 19, /* on an object that the library is just making or destroying: nobody else has it */
    DH_SYMEX_ALLOCATED_HERE = 1 << 17, /* on an object that this very thread made */
    DH_SYMEX_UNWINDING = 1 << 16,      /* only while an exception is on its way */
    DH_SYMEX_ELEMENT_JOINED = 1 << 15  /* on an element whose thread was joined just before */
};

/* How a lock belongs to what is accessed. */
enum dh_lock_relation {
    DH_RELATION_NONE,
    DH_RELATION_SAME,   /* in the same instance (or element) as the data */
    DH_RELATION_OWNER,  /* in the instance on which alone the data hang */
    DH_RELATION_INDEX,  /* picked by the same index */
    DH_RELATION_NEAR,   /* as SAME or HOST, unless an index leaves the object */
    DH_RELATION_REACHED /* in an object through which the data were found */
};

/* What a lock is when the program makes it of atomics, by custom (made.h). */
enum dh_sync_kind {
    DH_SYNC_LIBRARY, /* a lock of a library */
    DH_SYNC_ATOMIC_LOCK,
    DH_SYNC_ATOMIC_LAST, /* only the last one, or the first, to count down or up gets here */
    DH_SYNC_ATOMIC_FLAG  /* no lock: an atomic was seen to have a certain value */
};

struct dh_symex_lock {
    uint32_t node;
    int32_t offset;
    uint32_t expr; /* instance, in the words of the function; 0 = lost */
    uint32_t inst; /* where it was taken, last */
    uint16_t mode; /* 0 exclusive, 1 for reading */
    uint16_t relation;
    uint32_t index;  /* expression of the index of its element, 0 = none */
    bool element;    /* one of an array of locks */
    uint8_t again;   /* how often more it was taken by who held it */
    uint32_t via;    /* parameters of the function at work that were found through its object, as bits */
    uint8_t made;    /* dh_sync_kind */
    bool pending;    /* made, but only behind a fence that is still to come */
    bool test_known; /* FLAG: what the value is: `test` (dh_compare) than `number` */
    uint8_t test;
    int64_t number;
};
static inline bool dh_symex_lock_is_flag(const struct dh_symex_lock *h)
{
    return h->made == DH_SYNC_ATOMIC_FLAG || h->pending;
}
/* Made alike. */
static inline bool dh_symex_lock_same_kind(const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    return a->made == b->made && a->pending == b->pending && a->test_known == b->test_known && a->test == b->test &&
           a->number == b->number;
}

struct dh_lockset {
    uint32_t first, n; /* in symex.held */
};

/* Where a thread is between starts and joins. */
struct dh_order_state {
    dh_thread_set started; /* may have been */
    dh_thread_set joined;  /* none that this thread started is alive any more */
    dh_thread_set ended;   /* the same by custom, not by proof */
    uint64_t phase;        /* barriers that may have been the last one passed, as bits; 1 = none yet */
};

struct dh_symex_event {
    uint32_t inst;
    uint16_t thread, kind;
    uint32_t flags; /* dh_symex_event_flag */
    uint32_t node;
    int32_t offset;   /* in the node */
    uint32_t size;    /* 0 = not known */
    uint32_t stride;  /* of the element it lies in, 0 = none */
    uint32_t reach;   /* bytes from the offset on that its index may lead to, UINT32_MAX = any */
    uint32_t lockset; /* held, for LOCK: before */
    uint32_t order;
    uint32_t context;
    uint32_t loop; /* UNHANDED: which */
    dh_thread_set
        rejoined;    /* REJOINED: threads of these kinds that were given the element have ended; JOIN: waited for */
    uint32_t alone;  /* number + 1 of the one instance that gets here, 0 = any */
    uint32_t second; /* WAIT: node of the lock; LOCK: the new dh_symex_lock in symex.held */
    uint32_t seen;   /* READ, WRITE: atomics that were seen to have certain values, a lockset */
};

/* How a function was reached first: for call paths. */
struct dh_context {
    uint32_t function, caller, call; /* caller: context, DH_NONE: a thread begins */
    uint32_t thread;
};

/* For who asks what differs between contexts. */
struct dh_event_context {
    uint32_t event, context;
};
struct dh_context_call {
    uint32_t context, call, function, callee; /* callee: context, DH_NONE: nothing there matters */
};

/* How calls are told to have been walked before (003, tables 3.5 and 3.6), for measuring: what is found counts with
 * DH_CACHE_NORMAL alone. */
enum dh_call_cache {
    DH_CACHE_NORMAL,   /* contexts are told apart by what they bring to shared objects */
    DH_CACHE_BEST,     /* an object that is not shared leads to none that is */
    DH_CACHE_WORST,    /* by all objects that they bring */
    DH_CACHE_NONE,     /* no call was, but in recursions and beyond the number of contexts that is kept */
    DH_CACHE_UNCLIPPED /* as WORST, and calls in which nothing is shared are followed, too */
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
    DH_VEC(struct dh_element_loop) loops;    /* 0 = none */
    bool traced;                             /* set by the caller: the next two are kept */
    DH_VEC(struct dh_event_context) seen;    /* in which contexts an event was met; some twice */
    DH_VEC(struct dh_context_call) followed; /* calls, by context */
    uint8_t *allocations;                    /* by node: 0, 1, 2 = more */
    uint8_t *multiply_referenced; /* by node: pointers to it are stored when it is not fresh, so several places may hold
                                     it */
    uint64_t steps, max_steps;
    /* Calls that were not followed: nothing in them matters, or they were looked at before (003 §3.4.2). */
    uint64_t n_clipped, n_cached;
    uint32_t n_merged; /* functions, by thread, with so many contexts that some are taken together */
    /* Set by the caller: declared names, asked by heuristics only (analysis/source_names.h); NULL: there are none. */
    const struct dh_site_table *sites;
    enum dh_call_cache cache;
    struct dh_andersen *andersen; /* set by the caller: to be asked where objects were united; NULL = nobody */
    bool strict;     /* set by the caller: what code nobody knows, or a pointer to a TLS variable leads to, is shared */
    bool incomplete; /* the budget was used up: what was not reached is not known to be safe */
    struct dh_symex_state *state;
};

void dh_symex_init(struct dh_symex *w, struct dh_points_to *s);
void dh_symex_run(struct dh_symex *w);
void dh_symex_release(struct dh_symex *w);
/* At most one runtime object: a global, or something allocated once. */
bool dh_symex_is_unique(const struct dh_symex *w, uint32_t node);

#endif
