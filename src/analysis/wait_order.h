/* Heuristic order by waiting (guard_conditions.h): what a thread does before it sets a guard variable precedes what
 * another does after it waited for that; alternation by turns; mutexes, semaphores and readers-writer locks made of
 * such variables. Layer: analysis. Tried when nothing else rules out a pair; no proof. Owns its storage. */
#ifndef DH_ANALYSIS_WAIT_ORDER_H
#define DH_ANALYSIS_WAIT_ORDER_H

#include "analysis/guard_conditions.h"
#include "base/map.h"
#include "base/set.h"

/* The last accesses to one guard variable before an event, on every path to it. */
struct dh_passed_guard {
    struct dh_heap_cell at;
    struct dh_guard_access test, set;
    bool entered;                               /* `test` was passed */
    bool claimed;                               /* the last access to it is the thread's own write: `set` */
    bool looped;                                /* the test stands in a loop that lies before the event */
    dh_thread_set asked;                        /* threads whose writes were looked for */
    dh_thread_set set_by[DH_GUARD_CHANGED + 1]; /* those that may satisfy the test, by how they change the variable */
};

struct dh_passed_guards {
    uint32_t first, n;        /* in wait_order.passed */
    uint32_t place, n_places; /* in wait_order.places: guard variables that were set or tested before */
    bool all;                 /* these are all */
};

/* Events of one context between the same guards have one answer. */
struct dh_passed_guards_key {
    uint32_t context, inst, root;
};

struct dh_wait_order {
    struct dh_guards guards;
    struct dh_key_map numbers; /* of answers, by key */
    DH_VEC(struct dh_passed_guards) answers;
    DH_VEC(struct dh_passed_guard) passed;
    DH_VEC(struct dh_heap_cell) places;
    struct dh_u64_set seen; /* level and block, of the query at work */
    DH_VEC(uint32_t) todo;
    uint32_t budget; /* blocks that all queries together may visit */
};

void dh_wait_order_init(struct dh_wait_order *x, struct dh_symex *w);
void dh_wait_order_release(struct dh_wait_order *x);
/* Whether waiting orders the two events, or keeps them apart. */
bool dh_wait_order_separates(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b);
/* One of them comes after its thread set the guard in the object that the other one waited for: it owns it no more. */
bool dh_wait_order_ends_ownership(struct dh_wait_order *x, const struct dh_symex_event *a,
                                  const struct dh_symex_event *b);
/* From one event of a thread to the other it sets none of the guards that let it in. */
bool dh_wait_order_keeps_turn(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b);

#endif
