/* What the parts of a campaign share: classify.c (whose turn it is), runs.c (trials and who judges them), failing.c
 * (failing runs and what is told of them), freely.c (without the engine), known.c (failures of the baseline), pairs.c
 * (verdicts of two places), work.c (slow-down). Layer: classify. For these files alone. */
#ifndef DH_CLASSIFY_CAMPAIGN_INTERNAL_H
#define DH_CLASSIFY_CAMPAIGN_INTERNAL_H

#include "classify/classify.h"
#include "classify/oracle.h"

/* A failing run that a column found; owned by the campaign. */
struct failure {
    struct dh_engine_found *found;
    const struct dh_classify_column *column;
    unsigned rank; /* of the model: what fails under a stronger one says more */
};

struct campaign {
    struct dh_subject *s;
    struct dh_baseline b; /* with the outcomes that the oracle accepted since */
    const struct dh_classify_options *o;
    const struct dh_classify_host *host;
    struct dh_err *err;
    struct dh_baseline engine; /* what `b` was before runs were free, which have one of their own */
    bool failed;
    bool doubted, is_doubtful; /* what it prints was looked at again; and what was made of it is to be made anew */
    uint64_t until_ns;         /* of this variable */
    DH_VEC(struct failure) failures;
};

uint64_t dh_time_left(const struct campaign *c);

/* ---- runs.c ---- */

/* Which accesses are in doubt, and which are steps, a mark per place. */
struct doubt {
    uint8_t *marks;
    dh_engine_marks *visible;
};
/* All of the variable. */
struct doubt dh_adversarial_places(const struct campaign *c, const struct dh_classified *of, bool tears);
void dh_adversarial_places_release(struct doubt *d);

struct attempt {
    const struct dh_classify_column *column;
    struct doubt doubt;              /* borrowed */
    const struct dh_racy_pair *pair; /* that is led to meet; NULL: schedules at random */
    bool systematic;                 /* all of them */
    uint64_t runs, time_ns;
    bool in_line; /* accesses are no steps: quick, and only for counting */
};
/* What the oracle accepts is no failure. False: no process could be started, and the campaign has failed. The result is
 * released by the caller. */
bool dh_attempt_run(struct campaign *c, const struct attempt *a, struct dh_trial_result *out);

/* ---- failing.c ---- */

/* Keeps the best of what was found. */
void dh_failures_take(struct campaign *c, const struct dh_classify_column *column, struct dh_trial_result *r);
void dh_failures_release(struct campaign *c);
/* The first of those that happens with kernel threads, too, is the failing run. */
void dh_failures_confirm(struct campaign *c, struct dh_classified *out);
/* Of what fails under hb alone: does it under a stronger model? Then that is the failing run. */
void dh_failures_find_strongest_model(struct campaign *c, struct dh_classified *out);

/* Words for the failing run that `out` has. */
void dh_failure_explain(struct campaign *c, struct dh_classified *out);

/* ---- freely.c ---- */

/* All columns with kernel threads that run free, up to the verdict if it is destructive. */
void dh_free_campaign_run(struct campaign *c, struct dh_classified *out);
/* Of what failed so: runs that fail, up to the first, in which only loads at these places may be stale. */
uint64_t dh_free_campaign_failing(struct campaign *c, const struct dh_classified *of, const uint32_t *only, unsigned n,
                                  uint64_t time_ns, uint64_t *runs);
/* How much more processor time it takes who reads old values. */
void dh_free_campaign_slow_down(struct campaign *c, struct dh_classified *out);

/* ---- known.c ---- */

/* Of what the baseline fails with already: is it this variable's doing? Then failing runs are taken. */
void dh_blame_baseline_failures(struct campaign *c, struct dh_classified *out);

/* ---- pairs.c ---- */

void dh_judge_pairs(struct campaign *c, struct dh_classified *out);

/* ---- work.c ---- */

/* How much more is done by who reads old values. */
void dh_measure_slow_down(struct campaign *c, struct dh_classified *out);

#endif
