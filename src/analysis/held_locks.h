/* Locks that a function holds continuously from one of its instructions to another. Layer: analysis.
 * Forward dataflow over the function; locks that a callee acquires or releases are included by its effect. A lock is
 * named by the value number of its address. Waiting on a condition releases and reacquires the lock and does not end
 * the critical section. Sets of locks are bits. */
#ifndef DH_ANALYSIS_HELD_LOCKS_H
#define DH_ANALYSIS_HELD_LOCKS_H

#include "analysis/symex_internal.h"

enum { DH_NAMED_LOCKS_MAX = 64 };
typedef uint64_t dh_lock_bits;

struct dh_named_lock {
    uint32_t inst; /* that acquires it, the first one */
    struct dh_term at;
    struct dh_heap_cell cell; /* in the function's own graph */
};

/* An instruction that acquires a lock. */
struct dh_acquisition {
    uint32_t point; /* of the function: the lock or the call */
    uint32_t inst;  /* the lock itself */
    uint32_t hold;
};

/* Locks acquired and released by a call of a function, in terms of its parameters. */
struct dh_lock_effect {
    DH_VEC(struct dh_named_lock) acquired; /* and held when it returns */
    DH_VEC(struct dh_term) released;
    bool releases_any;
};

struct dh_held_locks {
    struct dh_symex *symex;
    struct dh_lock_effect *effects; /* by function */
    /* of the function being analysed */
    uint32_t function;
    DH_VEC(struct dh_named_lock) holds;
    DH_VEC(struct dh_acquisition) acquisitions;
    DH_VEC(uint8_t) reached; /* scratch, by block */
    DH_VEC(uint32_t) work;
    DH_VEC(dh_lock_bits) entered; /* by block: held at its entry on every path */
    DH_VEC(dh_lock_bits) at;      /* by instruction of the function: held after it */
    bool collecting;              /* released locks are being collected for the effect */
    bool incomplete;
};

void dh_held_locks_init(struct dh_held_locks *h, struct dh_symex *w);
void dh_held_locks_release(struct dh_held_locks *h);
/* Callees first. */
void dh_held_locks_analyse(struct dh_held_locks *h, uint32_t function);
/* Held at an instruction of the function being analysed. */
dh_lock_bits dh_held_locks_at(const struct dh_held_locks *h, uint32_t inst);
/* Held at both and not released on any path from the one to the other that does not pass the first again. */
dh_lock_bits dh_held_locks_between(struct dh_held_locks *h, uint32_t from, uint32_t to);

#endif
