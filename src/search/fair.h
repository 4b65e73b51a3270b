/* Fair scheduling (after Musuvathi and Qadeer, Fair stateless model checking, PLDI 2008): a thread that yields for the
 * second time at a place waits for all enabled threads that have not moved since its first yield there. The first yield
 * has no effect: no scheduler promises more. No two threads wait for each other. Layer: search. One for each search. */
#ifndef DH_SEARCH_FAIR_H
#define DH_SEARCH_FAIR_H

#include "search/strategy.h"

struct dh_fair {
    struct dh_fair_thread {
        uint32_t moved, yielded; /* when last */
        uint32_t owes;           /* waits for threads that have not moved since then */
    } *thread;
    uint32_t thread_room, threads;
    uint32_t now;
    bool any;
};

/* A schedule begins. */
void dh_fair_begin(struct dh_fair *f);
/* At each decision, before dh_fair_is_blocked. False: no memory. */
bool dh_fair_observe(struct dh_fair *f, struct dh_search *search, const struct dh_decision *now);
bool dh_fair_is_blocked(const struct dh_fair *f, const struct dh_decision *now, uint32_t thread);

#endif
