/* Runs of a program under the engine whose ends are judged: the baseline first, then with an adversary. Layer:
 * classify. A run of many schedules is one process. */
#ifndef DH_CLASSIFY_TRIAL_H
#define DH_CLASSIFY_TRIAL_H

#include "prove/subject.h"

/* What the program does when nobody is against it: schedules that switch at synchronisation only, so that no two
 * accesses that race come between each other's. */
struct dh_baseline {
    struct dh_engine_outcome outcomes[DH_ENGINE_OUTCOMES];
    uint32_t n_outcomes;
    bool output_varies, errors_vary; /* another one in every run: they tell nothing */
    uint64_t schedules, operations, operations_most;
    uint64_t longest_ns; /* of a run, about */
    uint32_t depth, threads;
    uint64_t ends[16]; /* of schedules that did not come to the program's own end */
    int status;
    bool no_threads;
    char *cannot; /* why there is none, or NULL */
};

struct dh_trial {
    const char *model, *heuristic;
    const char *strategy;
    const uint8_t *marks;           /* per place */
    const dh_engine_marks *visible; /* per place */
    uint32_t target[2];             /* places that `directed` lets meet */
    uint64_t seed, schedules, time_ns;
    bool systematic, in_line; /* in_line: only to see how much work it makes: such runs do not replay */
};

struct dh_trial_result {
    uint64_t schedules, failed, cut;
    uint64_t ends[16];
    uint64_t operations, operations_most; /* mean; most */
    uint64_t shared, locations, loads, open_loads, stale_loads, stale_schedules;
    uint64_t time_ns;
    uint32_t state;
    bool is_exact;
    char text[256];
    DH_VEC(struct dh_engine_found *) found; /* owned; those with the fewest stale reads first */
};

bool dh_baseline_collect(struct dh_baseline *b, const struct dh_subject *s, uint64_t time_ns, struct dh_err *err);
void dh_baseline_release(struct dh_baseline *b);
/* What is to be judged against it. */
struct dh_adversary dh_baseline_adversary(const struct dh_baseline *b, const char *model, const uint8_t *marks);

bool dh_trial_run(const struct dh_trial *r, const struct dh_subject *s, const struct dh_baseline *b,
                  struct dh_trial_result *out, struct dh_err *err);
void dh_trial_release(struct dh_trial_result *r);

#endif
