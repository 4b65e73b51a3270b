/* Shared by the files of a classification: classify.c (variables, groups, verdicts), attempts.c (trials and the
 * oracle), failing_runs.c (confirming and explaining failures), free_campaign.c (free runs), baseline_failures.c (blame
 * for failures of the baseline), place_pairs.c (verdicts of pairs), slow_down.c (qos). Layer: classify. */
#ifndef DH_CLASSIFY_CAMPAIGN_INTERNAL_H
#define DH_CLASSIFY_CAMPAIGN_INTERNAL_H

#include "classify/classify.h"
#include "classify/oracle.h"

/* A failing run; owned by the campaign. */
struct failure {
    struct dh_engine_found *found;
    const struct dh_classify_column *column;
    unsigned rank; /* strength of the model, strongest first */
};

struct campaign {
    struct dh_subject *s;
    struct dh_baseline b; /* and outcomes that the oracle accepted */
    const struct dh_classify_options *o;
    const struct dh_classify_host *host;
    struct dh_err *err;
    struct dh_baseline engine; /* `b` of the engine while free runs have their own */
    bool failed;
    bool doubted, is_doubtful; /* the output of the baseline was collected again; it changed, so the variable is
                                  classified again */
    uint64_t until_ns;         /* of this variable */
    DH_VEC(struct failure) failures;
};

uint64_t dh_time_left(const struct campaign *c);

/* ---- attempts.c ---- */

/* Places whose loads may be stale, and visible places; a mark per place. */
struct adversarial_places {
    uint8_t *marks;
    dh_engine_marks *visible;
};
/* All places of the variable. */
struct adversarial_places dh_adversarial_places(const struct campaign *c, const struct dh_classified *of, bool tears);
void dh_adversarial_places_release(struct adversarial_places *d);

/* A trial of a column. */
struct attempt {
    const struct dh_classify_column *column;
    struct adversarial_places places; /* borrowed */
    const struct dh_racy_pair *pair;  /* target of directed schedules; NULL: random ones */
    bool systematic;                  /* all schedules */
    uint64_t runs, time_ns;
    bool in_line; /* loads are served without being steps: fast, for counting only */
};
/* Without failures that the oracle accepts. False: no process could be started, the campaign has failed. The result is
 * released by the caller. */
bool dh_attempt_run(struct campaign *c, const struct attempt *a, struct dh_trial_result *out);

/* ---- failing_runs.c ---- */

/* Keeps the best failures of a trial. */
void dh_failures_take(struct campaign *c, const struct dh_classify_column *column, struct dh_trial_result *r);
void dh_failures_release(struct campaign *c);
/* The first that replays with kernel threads becomes the failing run. */
void dh_failures_confirm(struct campaign *c, struct dh_classified *out);
/* Of a variable that fails under hb: a failing run under a stronger model, if there is one. */
void dh_failures_find_strongest_model(struct campaign *c, struct dh_classified *out);

/* Sets the texts of the failing run. */
void dh_failure_explain(struct campaign *c, struct dh_classified *out);

/* ---- free_campaign.c ---- */

/* All columns with free runs, and the verdict if it is destructive. */
void dh_free_campaign_run(struct campaign *c, struct dh_classified *out);
/* Failing runs, up to the first, in which only loads at these places may be stale. */
uint64_t dh_free_campaign_failing(struct campaign *c, const struct dh_classified *of, const uint32_t *only, unsigned n,
                                  uint64_t time_ns, uint64_t *runs);
/* Slow-down in processor time. */
void dh_free_campaign_slow_down(struct campaign *c, struct dh_classified *out);

/* ---- baseline_failures.c ---- */

/* Is the variable to blame for failures that the baseline has, too? Then takes failing runs. */
void dh_blame_baseline_failures(struct campaign *c, struct dh_classified *out);

/* ---- place_pairs.c ---- */

void dh_judge_pairs(struct campaign *c, struct dh_classified *out);

/* ---- slow_down.c ---- */

/* Slow-down in operations. */
void dh_measure_slow_down(struct campaign *c, struct dh_classified *out);

#endif
