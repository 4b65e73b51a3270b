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
    const struct dh_racy_element *elements; /* of the variable in doubt, that are watched first; borrowed */
    uint32_t n_elements;
    bool no_threads;
    char *cannot; /* why there is none, or NULL */
};

struct dh_trial {
    const char *model, *heuristic;
    const char *strategy;           /* NULL, of a systematic one: dpor */
    const uint8_t *marks;           /* per place */
    const dh_engine_marks *visible; /* per place */
    uint32_t target[2];             /* places that `directed` lets meet */
    uint64_t seed, schedules, time_ns;
    uint32_t fairness; /* as in dh_engine_job; 0: the heuristic's own */
    bool systematic;   /* all values in all schedules, until nothing is left or time is over */
    bool in_line;      /* only to see how much work it makes: such runs do not replay */
};

struct dh_trial_result {
    uint64_t schedules, failed, cut;
    uint64_t ends[16];
    uint64_t operations, operations_most; /* mean; most */
    uint64_t works[DH_ENGINE_WORKS];      /* of the first runs that ended: see event/engine.h */
    uint32_t n_works;
    uint64_t shared, locations, loads, open_loads, stale_loads, stale_schedules, stores;
    uint32_t buffer_most, buffer_written;
    uint8_t *met;         /* a byte per place that is not adversarial: not 0, it accesses what is; owned */
    uint64_t unjustified; /* hbmm: runs that did not happen, since a write they had taken did not come */
    uint64_t time_ns;
    uint32_t state;
    bool is_exact; /* systematic: every value in every schedule was tried, nothing was left out */
    char text[256];
    DH_VEC(struct dh_engine_found *) found; /* owned; those with the fewest stale reads first */
};

/* The subject learns which libraries it loads. */
bool dh_baseline_collect(struct dh_baseline *b, struct dh_subject *s, uint64_t time_ns, struct dh_err *err);
/* The same, and exit status 0 alone is right, whatever is printed. False: it does not end so even when nobody disturbs
 * it, and there is nothing to compare with. To be released either way. */
bool dh_baseline_collect_status(struct dh_baseline *b, struct dh_subject *s, uint64_t time_ns);
void dh_baseline_release(struct dh_baseline *b);
/* As many runs again, which may print what none did: then that stream tells nothing from now on. Has anything changed?
 */
bool dh_baseline_repeat(struct dh_baseline *b, struct dh_subject *s, uint64_t time_ns, struct dh_err *err);
/* A run that is right ended so: where no other one printed that, the stream tells nothing from now on. */
void dh_baseline_accept_output(struct dh_baseline *b, const struct dh_engine_outcome *o);
/* Is what it printed, or its errors, another thing in too many runs to tell anything? */
bool dh_baseline_output_varies(const struct dh_baseline *b, bool errors);
/* What is to be judged against it. */
struct dh_adversary_setup dh_baseline_adversary(const struct dh_baseline *b, const char *model, const uint8_t *marks);

bool dh_trial_run(const struct dh_trial *r, const struct dh_subject *s, const struct dh_baseline *b,
                  struct dh_trial_result *out, struct dh_err *err);
void dh_trial_release(struct dh_trial_result *r);

#endif
