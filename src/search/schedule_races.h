/* Race detection within one schedule: accesses that the program's synchronisation does not order, although the
 * scheduler does. The rules are those of event/happens_before.h; every access is checked against all earlier ones of
 * its bytes, and one that it races with is reported. Layer: search. Entries carry the schedule's number, so nothing is
 * cleared between schedules. Memory is the search's. */
#ifndef DH_SEARCH_SCHEDULE_RACES_H
#define DH_SEARCH_SCHEDULE_RACES_H

#include "search/shadow_known.h"
#include "search/strategy.h"

struct dh_schedule_races;

struct dh_schedule_access {
    uint32_t thread, site, occurrence;
    uint32_t size;
    uint64_t address;
    uint8_t flags; /* DH_STEP_WRITES, DH_STEP_ATOMIC; else a plain read */
    bool frees;
};

struct dh_schedule_race {
    struct dh_schedule_access first, second; /* of the first: the granule of eight bytes it shares with the second */
    bool is_new;                             /* the first of these two sites in this search */
};

/* NULL: no memory. */
struct dh_schedule_races *dh_schedule_races_new(struct dh_search *search);
/* From the first schedule on pairs of accesses are looked for that only locks put in order, and none protects
 * (search/hybrid.h). False: no memory. */
bool dh_schedule_races_want_unprotected(struct dh_schedule_races *h);
/* The sites of such a pair, of the latest access; false: it is in none. */
bool dh_schedule_races_take_unprotected(struct dh_schedule_races *h, uint32_t sites[2]);
void dh_schedule_races_begin(struct dh_schedule_races *h);
/* An access that is no visible step. True: it races with one before it. */
bool dh_schedule_access(struct dh_schedule_races *h, const struct dh_schedule_access *access,
                        struct dh_schedule_race *race);
/* A visible step, after it was executed: what it orders, and its accesses if it has any. */
bool dh_schedule_races_step(struct dh_schedule_races *h, uint32_t thread, const struct dh_step *step,
                            struct dh_schedule_race *race);
/* Allocated memory has no history. */
void dh_schedule_races_forget(struct dh_schedule_races *h, uint64_t address, uint64_t size);
/* The accesses that need not be checked (shadow_known.h); the same pointer for the whole search. Its `self` is for the
 * caller to set, to 0 when the thread changes or a step was executed. */
struct dh_shadow_known *dh_schedule_races_known(struct dh_schedule_races *h);
uint64_t dh_schedule_races_self(struct dh_schedule_races *h, uint32_t thread);
/* From now on it is noted which sites access memory that several threads access: a byte for each of `n`. */
void dh_schedule_races_note_shared(struct dh_schedule_races *h, uint8_t *sites, uint32_t n);
/* From now on no access of these eight bytes is taken for known in this schedule. Where a race was found none is. */
void dh_schedule_races_watch(struct dh_schedule_races *h, uint64_t address);

#endif
