/* Trials: many schedules of a program under the engine, judged against a baseline. Layer: classify. A trial is one
 * process. */
#ifndef DH_CLASSIFY_TRIAL_H
#define DH_CLASSIFY_TRIAL_H

#include "prove/subject.h"

/* The baseline: outcomes of schedules without adversary that switch at synchronisation only, so that racing accesses do
 * not interleave. */
struct dh_baseline {
    struct dh_engine_outcome outcomes[DH_ENGINE_OUTCOMES];
    uint32_t n_outcomes;
    bool output_varies, errors_vary; /* differ in every run: not compared */
    uint64_t schedules, operations, operations_most;
    uint64_t longest_ns; /* of a run, about */
    uint32_t depth, threads;
    uint64_t ends[16]; /* of schedules that failed */
    int status;
    const struct dh_racy_element *elements; /* of the variable, always served; borrowed */
    uint32_t n_elements;
    bool no_threads;
    char *cannot; /* why there is none, or NULL */
};

struct dh_trial {
    const char *model, *heuristic;
    const char *strategy;           /* NULL, of a systematic one: dpor */
    const uint8_t *marks;           /* per place */
    const dh_engine_marks *visible; /* per place */
    uint32_t target[2];             /* of `directed` */
    uint64_t seed, schedules, time_ns;
    uint32_t fairness; /* as in dh_engine_job; 0: the heuristic's own */
    bool systematic;   /* all values in all schedules, until nothing is left or time is over */
    bool in_line;      /* loads are served without being steps: does not replay */
};

struct dh_trial_result {
    uint64_t schedules, failed, cut;
    uint64_t ends[16];
    uint64_t operations, operations_most; /* mean; most */
    uint64_t works[DH_ENGINE_WORKS];      /* of the first runs that ended: see event/engine.h */
    uint32_t n_works;
    uint64_t shared, locations, loads, open_loads, stale_loads, stale_schedules, stores;
    uint32_t buffer_most, buffer_written;
    uint8_t *met;         /* a byte per place that is not adversarial: 1, it accesses adversarial memory; owned */
    uint64_t unjustified; /* hbmm: schedules whose future writes did not come */
    uint64_t time_ns;
    uint32_t state;
    bool is_exact; /* systematic: every value in every schedule was tried */
    char text[256];
    DH_VEC(struct dh_engine_found *) found; /* owned; those with the fewest stale reads first */
};

/* Adds the libraries of the subject, too. */
bool dh_baseline_collect(struct dh_baseline *b, struct dh_subject *s, uint64_t time_ns, struct dh_err *err);
/* The same, with exit status 0 as the only right outcome, whatever is printed. False: the baseline has another status.
 * Released by the caller either way. */
bool dh_baseline_collect_status(struct dh_baseline *b, struct dh_subject *s, uint64_t time_ns);
void dh_baseline_release(struct dh_baseline *b);
/* As many runs again; a stream with new output is not compared from now on. True: something changed. */
bool dh_baseline_repeat(struct dh_baseline *b, struct dh_subject *s, uint64_t time_ns, struct dh_err *err);
/* A right run had this output: a stream with new output is not compared from now on. */
void dh_baseline_accept_output(struct dh_baseline *b, const struct dh_engine_outcome *o);
/* Does the output, or the errors, differ in too many runs to be compared? */
bool dh_baseline_output_varies(const struct dh_baseline *b, bool errors);
/* An adversary whose schedules are judged against the baseline. */
struct dh_adversary_setup dh_baseline_adversary(const struct dh_baseline *b, const char *model, const uint8_t *marks);

bool dh_trial_run(const struct dh_trial *r, const struct dh_subject *s, const struct dh_baseline *b,
                  struct dh_trial_result *out, struct dh_err *err);
void dh_trial_release(struct dh_trial_result *r);

#endif
