/* Threads that wait for each other's word (words.h): what one does before it gives the word, the other does behind
 * waiting for it; turns; locks, semaphores and locks for readers and writers made by hand. Layer: analysis.
 * Asked when a pair would be suspected; a custom, no proof. Owns its storage. */
#ifndef DH_ANALYSIS_WAIT_ORDER_H
#define DH_ANALYSIS_WAIT_ORDER_H

#include "analysis/guard_conditions.h"

/* What stands before an access, on all ways to it. */
struct dh_passed_guard {
    struct dh_heap_cell at;
    struct dh_guard_access gate, claim;
    bool entered;                                     /* `gate` was passed */
    bool claimed;                                     /* the last word on it is the thread's own: `claim` */
    bool looped;                                      /* the gate stands in a loop that lies before the access */
    dh_thread_set asked, given[DH_GUARD_CHANGED + 1]; /* who opens the gate, by how it changes the word */
};

struct dh_passed_guards {
    uint32_t first, n;        /* in waited.ways */
    uint32_t place, n_places; /* in waited.places: words that were given or tested before */
    bool all;                 /* these are all */
};

struct dh_passed_guards_key {
    uint32_t context, inst, root;
};

struct dh_passed_guards_slot {
    struct dh_passed_guards_key key;
    struct dh_passed_guards ways;
    bool used;
};

struct dh_wait_order {
    struct dh_guards words;
    struct dh_passed_guards_slot *slots; /* answers, by where they were asked for */
    size_t mask, n_used;
    DH_VEC(struct dh_passed_guard) ways;
    DH_VEC(struct dh_heap_cell) places;
    uint64_t *seen; /* blocks of the question at work */
    DH_VEC(uint32_t) todo;
    uint32_t budget; /* questions may cost so much, all together */
};

void dh_wait_order_init(struct dh_wait_order *x, struct dh_symex *w);
void dh_wait_order_release(struct dh_wait_order *x);
bool dh_wait_order_separates(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b);
/* One of them comes after its thread gave the word in the object that the other waited for: it was not its any more. */
bool dh_wait_order_ends_ownership(struct dh_wait_order *x, const struct dh_symex_event *a,
                                  const struct dh_symex_event *b);
/* From the one to the other, of one thread, it gives none of the words that it was let in by. */
bool dh_wait_order_keeps_turn(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b);

#endif
