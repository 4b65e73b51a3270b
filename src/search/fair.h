/* Who must let others go first: a thread that gives way where it was before, for the second time, waits for all that
 * could move and have not moved since the first (after Musuvathi and Qadeer, Fair stateless model checking, PLDI 2008).
 * The first time binds nobody: no scheduler promises more. No two threads wait for each other. Layer: search. One for
 * each search. */
#ifndef DH_SEARCH_FAIR_H
#define DH_SEARCH_FAIR_H

#include "search/strategy.h"

struct dh_fair {
    struct dh_fair_thread {
        uint32_t moved, yielded; /* when last */
        uint32_t owes;           /* to those who did not move since */
    } *thread;
    uint32_t thread_room, threads;
    uint32_t now;
    bool any;
};

/* A schedule begins. */
void dh_fair_begin(struct dh_fair *f);
/* At each decision, before asking. False: no memory. */
bool dh_fair_observe(struct dh_fair *f, struct dh_search *search, const struct dh_decision *m);
bool dh_fair_is_blocked(const struct dh_fair *f, const struct dh_decision *m, uint32_t thread);

#endif
