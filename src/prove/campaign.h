/* A campaign: searches for goals within a budget of time; an end that they find is proven when its schedule replays
 * with kernel threads. Layer: prove. One thread; the searches are processes. */
#ifndef DH_PROVE_CAMPAIGN_H
#define DH_PROVE_CAMPAIGN_H

#include "finding/finding.h"
#include "prove/subject.h"

#include <stdbool.h>
#include <stdint.h>

enum dh_goal_status {
    DH_GOAL_OPEN, /* not searched yet */
    DH_GOAL_PROVEN,
    DH_GOAL_REFUTED,   /* every schedule within the bounds was tried */
    DH_GOAL_EXHAUSTED, /* every schedule was tried, as far as visible operations differ */
    DH_GOAL_SPENT,     /* the budget ended first */
    DH_GOAL_UNCOVERED, /* everything that could be tried was, and that is not all there is */
    DH_GOAL_SKIPPED,   /* no search can find it, or it is another shard's */
    DH_GOAL_COUNTED,   /* one of its group (finding/group.h) is looked for in its place */
};

/* A finding to be proven. */
struct dh_goal {
    const struct dh_finding *finding;
    enum dh_goal_status verdict;
    uint64_t schedules;
    char *why;     /* the bounds as text, or why it was skipped; "" */
    unsigned more; /* goals of its group that are counted with it */
};

struct dh_proof {
    const struct dh_finding *finding; /* of the goal, or of the end */
    bool is_new;                      /* no goal */
    const struct dh_witness *witness;
    const struct dh_schedule *schedule;
    const struct dh_engine_found *end;
    uint64_t schedules, time_ns; /* until it was found */
    const char *strategy;
    uint32_t steps_before, switches_before, switches; /* minimising */
};

struct dh_campaign_state {
    uint64_t schedules, steps, elapsed_ns, left_ns;
    uint32_t depth, threads, running;
    unsigned proven, goals, unconfirmed;
    uint64_t pairs, both; /* dependent places: executed, and executed in both orders, by the widest search */
    const char *strategy;
};

struct dh_campaign_host {
    /* Called periodically. */
    void (*progress)(void *arg, const struct dh_campaign_state *s);
    /* False: the proof could not be stored; the campaign ends. */
    bool (*proven)(void *arg, const struct dh_proof *p);
    /* At the end, for unordered accesses without a proven race: level observed. May be NULL. */
    void (*observed)(void *arg, const struct dh_finding *f);
    /* Polled: true ends the campaign. */
    bool (*interrupted)(void *arg);
    void *arg;
};

struct dh_campaign_options {
    uint64_t budget_ns;
    unsigned jobs;          /* processes at a time */
    unsigned shard, shards; /* this one of so many, from 0 */
    uint64_t seed;
    const char *strategy;                    /* only this one, or NULL */
    uint32_t preemptions;                    /* UINT32_MAX: no bound */
    uint32_t depth;                          /* decisions per schedule; 0: the engine's */
    uint64_t schedules;                      /* per search; 0: no limit */
    const dh_engine_marks *marks;            /* per place: visible from the beginning, sections; or NULL */
    const struct dh_adversary_setup *judged; /* outcomes that are right: others are looked for, and races only if it has
                                          a memory model; or NULL */
    bool spurious;                           /* condition waits may end by themselves */
    bool first;                              /* stop after the first proof */
    bool by_itself;                          /* goals are looked for one by one, not one of each group */
    bool as_found;                           /* witnesses are not minimised */
    bool no_prefix, no_hint, keep_first;     /* for measurements: 002 §3 without a part of it */
    uint64_t least_ns;                       /* for each search (dh_hosting_least_ns); 0: any */
    uint64_t accesses;                       /* of the program's own run (prove/baseline.h); 0: not known */
    const char *doubt;                       /* why an empty search shows nothing (prove/baseline.h), or NULL */
};

struct dh_campaign_result {
    enum dh_goal_status verdict; /* without goals */
    uint64_t schedules, steps, elapsed_ns;
    uint64_t pairs, both;
    unsigned proven, unconfirmed;
    unsigned more;                        /* pairs of places in functions with a proven race on the same variable */
    unsigned untold;                      /* found when there was no time left to replay them */
    unsigned traces, prefixes, by_prefix; /* recorded schedules; prefixes tried; proofs by a prefix alone */
    uint32_t threads;
    bool no_threads; /* the program created none */
    bool interrupted;
    bool late;               /* the time was over before a schedule was made */
    char *cannot;            /* why nothing can be explored, or NULL */
    const char *irrevocable; /* the subject's */
    char *left_out;          /* why some schedules were, or NULL */
    char *strayed;           /* why the first end that did not replay did not, or NULL */
    char *odd;               /* what was odd about the program's runs, or NULL */
    char *bounds;            /* what was tried, as text */
    char *unseen;            /* an instrumented library whose accesses were not seen, or NULL */
};

/* Parameters of a campaign. Borrows everything. */
struct dh_campaign_terms {
    struct dh_subject *s;
    const struct dh_campaign_options *o;
    struct dh_goal *goals;
    size_t n_goals;
    const struct dh_campaign_host *host;
    struct dh_campaign_result *out;
};

/* Searches for one goal after the other; without goals, for any defect. False when no process could be started. */
bool dh_campaign(struct dh_subject *s, const struct dh_campaign_options *o, struct dh_goal *goals, size_t n,
                 const struct dh_campaign_host *host, struct dh_campaign_result *out, struct dh_err *err);
void dh_campaign_result_release(struct dh_campaign_result *r);

const char *dh_goal_status_words(enum dh_goal_status v);
/* "2 proven; 120 schedules in 0.50 s ...": the result in one line. `goals`: how many it had. */
void dh_campaign_summary(struct dh_str *out, const struct dh_campaign_result *r, const struct dh_campaign_options *o,
                         size_t goals);

#endif
