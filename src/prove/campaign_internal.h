/* Shared by the files of a campaign: campaign.c (goals and their budgets), campaign_goals.c (from a finding to ends,
 * places and phases), campaign_prefixes.c (witness prefixes from recorded schedules), campaign_searches.c (search
 * processes), campaign_joint.c (all races at once), campaign_rounds.c (whose turn it is), campaign_ends.c (ends that
 * they found) and campaign_confirm.c (minimising and replaying). Layer: prove.
 */
#ifndef DH_PROVE_CAMPAIGN_INTERNAL_H
#define DH_PROVE_CAMPAIGN_INTERNAL_H

#include "base/vec.h"
#include "prove/campaign.h"
#include "prove/witness_prefixes.h"

#define MS 1000000ull
#define OVERTIME (1500 * MS) /* that a process may take beyond its time */

/* One search of a goal. */
struct phase {
    const char *strategy;
    uint32_t flags;   /* enum dh_engine_flag */
    unsigned percent; /* of the time */
    unsigned bound;   /* preemptions; 0: the campaign's */
    unsigned start;   /* enum dh_engine_start, if runs are long */
    bool afresh;      /* what other searches of the goal made visible is not visible here: few steps, deep schedules */
};

/* The searches for one goal. */
struct goal_search {
    struct dh_goal *goal; /* NULL: any defect */
    dh_engine_marks *visible;
    dh_engine_marks *first; /* visible from the beginning: systematic searches start from these, so that they are the
                               same in every run */
    uint8_t *sides;         /* per place: bit 0 for the first access of the finding, bit 1 for the others */
    uint32_t place[2];
    bool is_pair;  /* a race at `place` */
    bool is_joint; /* all races of the goals; `goal` is NULL */
    uint32_t look_for;
    const struct phase *phases;
    size_t n_phases, next;
    uint32_t done; /* bits of phases that more time would not help */
    bool prefixes_done;
    bool is_open; /* more time may help */
    uint64_t budget_ns, began_ns;
    uint64_t schedules;
    uint64_t operations;                    /* of the longest schedule that came to its end */
    const struct dh_witness_prefix *prefix; /* of its schedules, or NULL */
    bool over;                              /* proven, or exhausted */
    bool tried_all;                         /* exhausted */
    bool places_missing;                    /* accesses of the finding cannot be steps */
    uint64_t tried;                         /* schedules of the systematic search that exhausted it, */
    unsigned tried_places;                  /* and its visible places */
    uint32_t gaps;                          /* enum dh_engine_gap: of all its searches */
    uint64_t cut;                           /* schedules that were cut in a search that tried all others */
    bool checked_all;                       /* invisible accesses were checked, too */
    bool bounded;                           /* within bounds only */
    uint64_t started_at;                    /* latest step at which schedules began that were not begun at the first */
    unsigned again;                         /* phases that began anew */
    uint32_t start_first, start_last;       /* where they may begin (struct dh_engine_job), */
    uint64_t start_quantum;                 /* and how the run goes up to there */
    uint32_t start_near[DH_ENGINE_NEAR], n_near;
};

/* A search that runs. */
struct search_process {
    struct dh_engine_process *control;
    const struct phase *phase;
    struct goal_search *goal_search;
    dh_engine_marks *visible;
    uint64_t read; /* bytes of the found area so far */
    uint64_t deadline_ns;
    uint64_t counted, counted_steps;
    uint64_t seed;
};

struct visible_place {
    uint32_t place;
    dh_engine_marks marks;
};

/* A finding that searches led to. */
struct known_finding {
    char id[17];
    uint64_t group; /* of dh_finding_group */
    unsigned tries; /* schedules that were replayed */
    bool proven;
    bool counted;                         /* another one of its group is proven: this one is only counted */
    struct dh_engine_found *unordered;    /* the unordered pair of accesses, or NULL; owned */
    DH_VEC(struct visible_place) visible; /* in its schedule, */
    uint32_t flags;                       /* of its search */
};

struct campaign {
    struct dh_campaign_terms terms;
    struct search_process *slots;
    unsigned running;
    uint64_t began_ns, until_ns, job;
    DH_VEC(struct known_finding) known;
    uint32_t depth, threads;
    bool failed, stop;
    bool hides_waiting;      /* a thread may wait for hidden accesses: none are hidden any more */
    dh_engine_marks *waited; /* places at which threads were seen to wait for them: visible; NULL: none */
    const char *strategy;
    struct dh_err *err;
};

/* ---- campaign_rounds.c ---- */

/* Every strategy gets a little time first and twice as much in each round. */
void dh_campaign_pursue_in_rounds(struct campaign *c, struct goal_search *a);
/* Goals likewise, those that were observed first. */
void dh_campaign_pursue_goals(struct campaign *c);

/* ---- campaign.c ---- */

/* Searches for the goal; `a` keeps what is to be known when its turn comes again. */
void dh_campaign_pursue_goal(struct campaign *c, struct dh_goal *g, struct goal_search *a, uint64_t budget_ns);
/* Its tables. */
void dh_campaign_goal_search_release(struct goal_search *a);

/* ---- campaign_searches.c ---- */

bool dh_campaign_time_left(const struct campaign *c);
struct dh_engine_job dh_campaign_job(struct campaign *c, const struct goal_search *a, const struct phase *p,
                                     uint64_t time_ns);
/* Runs the phases until the goal or the time is over. */
void dh_campaign_pursue(struct campaign *c, struct goal_search *a);
void dh_campaign_end_search(struct campaign *c, struct search_process *s);

/* ---- campaign_ends.c ---- */

/* Reads and confirms the ends that a search has found since the last call. */
void dh_campaign_read_ends(struct campaign *c, struct search_process *s);
/* Places that the search made visible are visible in later searches from the start. */
void dh_campaign_keep_visible(struct campaign *c, const struct search_process *from);
/* Reports unordered accesses that no schedule proved to race. */
void dh_campaign_report_unordered(struct campaign *c);

/* ---- campaign_confirm.c ---- */

/* The schedule of an end that the search found; its `visible` is owned by the caller. */
struct dh_schedule dh_campaign_schedule_of(const struct campaign *c, const struct search_process *from,
                                           const struct dh_engine_found *end);
/* Proves the finding by the shortest schedule that replays. */
bool dh_campaign_confirm(struct campaign *c, struct search_process *from, const struct dh_engine_found *end,
                         const struct dh_finding *f);

/* ---- campaign_goals.c ---- */

/* False: no search can find it; the goal says why. */
bool dh_campaign_set_up_goal(struct campaign *c, struct dh_goal *g, struct goal_search *a);
bool dh_campaign_skip(struct dh_goal *g, const char *why);

/* ---- campaign_joint.c ---- */

/* Looks for all races that were observed at once, if there are several. */
void dh_campaign_search_jointly(struct campaign *c);
/* Is each of them proven, or another one of its group? */
bool dh_campaign_joint_goals_shown(const struct campaign *c);
/* Of dh_finding_group; 0 is none. */
bool dh_campaign_is_group_proven(const struct campaign *c, uint64_t group);

/* ---- campaign_prefixes.c ---- */

/* Searches from witness prefixes (002 §3). */
void dh_campaign_search_prefixes(struct campaign *c, struct goal_search *a);

#endif
