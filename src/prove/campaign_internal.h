/* What the parts of a campaign share: campaign.c (whose turn it is), campaign_aims.c (what a finding asks for),
 * campaign_traces.c (beginnings from schedules), campaign_searches.c (processes), campaign_found.c (what they find) and
 * campaign_confirm.c (whether it holds). Layer: prove. For these files alone. */
#ifndef DH_PROVE_CAMPAIGN_INTERNAL_H
#define DH_PROVE_CAMPAIGN_INTERNAL_H

#include "base/vec.h"
#include "prove/campaign.h"
#include "prove/witness_prefixes.h"

#define MS 1000000ull
#define OVERTIME (1500 * MS) /* that a process may take beyond its time */

struct phase {
    const char *strategy;
    uint32_t flags;   /* enum dh_engine_flag */
    unsigned percent; /* of the time */
    unsigned bound;   /* preemptions; 0: the campaign's */
};

struct aim {
    struct dh_goal *goal; /* NULL: everything */
    dh_engine_marks *visible;
    uint8_t *sides; /* per place: 1, 2 or both, for what the first and the others of its accesses name */
    uint32_t place[2];
    bool is_pair; /* of accesses */
    uint32_t look_for;
    const struct phase *phases;
    size_t n_phases, next;
    uint64_t budget_ns, began_ns;
    uint64_t schedules;
    const struct dh_witness_prefix *prefix; /* to begin with, or NULL */
    bool over;                              /* proven, or nothing more to be found */
    bool tried_all;
    bool checked_all; /* accesses that are no steps were checked, too */
    bool bounded;     /* something kept the search from being complete */
};

struct search {
    struct dh_engine_process *control;
    const struct phase *phase;
    struct aim *aim;
    dh_engine_marks *visible;
    uint64_t read; /* bytes of the found area */
    uint64_t deadline_ns;
    uint64_t counted, counted_steps;
    uint64_t seed;
};

/* A finding by its id: how often its schedules were replayed in vain. */
struct known {
    char id[17];
    unsigned tries;
    bool proven;
    struct dh_engine_found *unordered; /* seen so, or NULL; owned */
};

struct campaign {
    struct dh_campaign_terms of;
    struct search *slots;
    unsigned running;
    uint64_t began_ns, until_ns, job;
    DH_VEC(struct known) known;
    uint32_t depth, threads;
    bool failed, stop;
    const char *strategy;
    struct dh_err *err;
};

/* ---- campaign_searches.c ---- */

bool dh_campaign_time_left(const struct campaign *c);
struct dh_engine_job dh_campaign_job(struct campaign *c, const struct aim *a, const struct phase *p, uint64_t time_ns);
/* The aim's phases one after the other, until it is over or time is. */
void dh_campaign_pursue(struct campaign *c, struct aim *a);
void dh_campaign_end_search(struct campaign *c, struct search *s);

/* ---- campaign_found.c ---- */

/* Takes what a search has found since it was last looked at. */
void dh_campaign_read_ends(struct campaign *c, struct search *s);
/* What the search made visible while it went on is so from the beginning in those that come. */
void dh_campaign_keep_visible(const struct campaign *c, const struct search *from);
void dh_campaign_report_unordered(struct campaign *c);

/* ---- campaign_confirm.c ---- */

/* Proves it by the shortest schedule that holds with kernel threads. */
bool dh_campaign_confirm(struct campaign *c, struct search *from, const struct dh_engine_found *end,
                         const struct dh_finding *f, bool doubted);

/* ---- campaign_aims.c ---- */

/* False: there is nothing to look for; the goal says why. */
bool dh_campaign_set_up_goal(struct campaign *c, struct dh_goal *g, struct aim *a);
bool dh_campaign_skip(struct dh_goal *g, const char *why);

/* ---- campaign_traces.c ---- */

/* From beginnings that schedules of the program's own give (§3). */
void dh_campaign_search_prefixes(struct campaign *c, struct aim *a);

#endif
