/* Threads that wait for each other's word (words.h): what one does before it gives the word, the other does behind
 * waiting for it; turns; locks, semaphores and locks for readers and writers made by hand. Layer: analysis.
 * Asked when a pair would be suspected; a custom, no proof. Owns its storage. */
#ifndef DH_ANALYSIS_WAIT_ORDER_H
#define DH_ANALYSIS_WAIT_ORDER_H

#include "analysis/guard_conditions.h"

/* What stands before an access, on all ways to it. */
struct dh_way {
    struct dh_heap_cell at;
    struct dh_word gate, claim;
    bool entered;                                   /* `gate` was passed */
    bool claimed;                                   /* the last word on it is the thread's own: `claim` */
    bool looped;                                    /* the gate stands in a loop that lies before the access */
    dh_thread_set asked, given[DH_WORD_ANYHOW + 1]; /* who opens the gate, by how it changes the word */
};

struct dh_ways {
    uint32_t first, n;        /* in waited.ways */
    uint32_t place, n_places; /* in waited.places: words that were given or tested before */
    bool all;                 /* these are all */
};

struct dh_ways_key {
    uint32_t context, inst, root;
};

struct dh_ways_slot {
    struct dh_ways_key key;
    struct dh_ways ways;
    bool used;
};

struct dh_waited {
    struct dh_words words;
    struct dh_ways_slot *slots; /* answers, by where they were asked for */
    size_t mask, n_used;
    DH_VEC(struct dh_way) ways;
    DH_VEC(struct dh_heap_cell) places;
    uint64_t *seen; /* blocks of the question at work */
    DH_VEC(uint32_t) todo;
    uint32_t budget; /* questions may cost so much, all together */
};

void dh_waited_init(struct dh_waited *x, struct dh_symex *w);
void dh_waited_release(struct dh_waited *x);
bool dh_waited_apart(struct dh_waited *x, const struct dh_symex_event *a, const struct dh_symex_event *b);
/* One of them comes after its thread gave the word in the object that the other waited for: it was not its any more. */
bool dh_waited_late(struct dh_waited *x, const struct dh_symex_event *a, const struct dh_symex_event *b);
/* From the one to the other, of one thread, it gives none of the words that it was let in by. */
bool dh_waited_through(struct dh_waited *x, const struct dh_symex_event *a, const struct dh_symex_event *b);

#endif
