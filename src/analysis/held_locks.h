/* Which locks a function holds from one of its instructions to another without a break. Layer: analysis.
 * Locks that it takes itself, or a callee that returns with them, are told apart by what their address is computed
 * from. Waiting for a condition gives the lock back on purpose and is no break. Sets of locks are bits. */
#ifndef DH_ANALYSIS_HELD_LOCKS_H
#define DH_ANALYSIS_HELD_LOCKS_H

#include "analysis/symex_internal.h"

enum { DH_NAMED_LOCKS_MAX = 64 };
typedef uint64_t dh_lock_bits;

struct dh_named_lock {
    uint32_t inst; /* that takes it, the first one */
    struct dh_term at;
    struct dh_heap_cell cell; /* in the function's own graph */
};

/* A place where a lock is taken. */
struct dh_acquisition {
    uint32_t point; /* of the function: the lock or the call */
    uint32_t inst;  /* the lock itself */
    uint32_t hold;
};

/* What a call of a function does to locks, in its words. */
struct dh_lock_effect {
    DH_VEC(struct dh_named_lock) taken; /* and held when it returns */
    DH_VEC(struct dh_term) released;
    bool releases_any;
};

struct dh_held_locks {
    struct dh_symex *symex;
    struct dh_lock_effect *effects; /* by function */
    /* of the function at work */
    uint32_t function;
    DH_VEC(struct dh_named_lock) holds;
    DH_VEC(struct dh_acquisition) takings;
    DH_VEC(uint8_t) reach; /* scratch, by block */
    DH_VEC(uint32_t) work;
    DH_VEC(dh_lock_bits) entered; /* by block: held at its begin on every way */
    DH_VEC(dh_lock_bits) at;      /* by instruction of the function: held when it is done */
    bool noting;                  /* what is given back is being learnt */
    bool incomplete;
};

void dh_held_locks_init(struct dh_held_locks *h, struct dh_symex *w);
void dh_held_locks_release(struct dh_held_locks *h);
/* Callees first. */
void dh_held_locks_analyse(struct dh_held_locks *h, uint32_t function);
/* What is held at the instruction of the function at work. */
dh_lock_bits dh_held_locks_at(const struct dh_held_locks *h, uint32_t inst);
/* What is held at both and not given back on any way from the one to the other that does not pass the first again. */
dh_lock_bits dh_held_locks_between(struct dh_held_locks *h, uint32_t from, uint32_t to);

#endif
