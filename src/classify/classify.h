/* Classification of racy variables (004): runs with stale values that memory models allow, picked by heuristics,
 * against a baseline; then groups of variables that are harmless alone. Layer: classify. One thread; runs are
 * processes. */
#ifndef DH_CLASSIFY_CLASSIFY_H
#define DH_CLASSIFY_CLASSIFY_H

#include "classify/minimise.h"
#include "classify/racy_variables.h"
#include "classify/trial.h"

enum { DH_CLASSIFY_COLUMNS = 8 };

struct dh_classify_options {
    uint64_t budget_ns; /* for each variable, and for all groups together */
    uint64_t seed;
    uint64_t runs;      /* schedules of a heuristic */
    uint64_t runs_most; /* of a systematic search; 0: all that there are */
    const char *model;  /* only this one; NULL: all */
    const char *oracle; /* command that judges outputs (classify/oracle.h); NULL: none */
    bool systematic;    /* all values in all schedules instead of heuristics, under `model` or hb */
    bool alone;         /* no groups */
    bool free;          /* with kernel threads that run free; the baseline is collected for each variable, then */
    const char *doubt;  /* why runs without failure show nothing (prove/baseline.h), or NULL */
};

/* A model and a heuristic, with its results: a column of the table. */
struct dh_classify_column {
    const char *title, *model, *heuristic;
    bool tears;
    uint64_t runs, failed, stale_loads, open_loads;
    double slower; /* operations against the baseline's */
};

/* Two places whose accesses race: the verdict when only their reads may be stale. */
struct dh_classified_pair {
    const struct dh_finding *finding; /* that names them; borrowed */
    enum dh_finding_verdict verdict;  /* as the variable's */
    char *why;
};

/* Of a variable without failure: loads had one value only, or stale ones were served. */
enum dh_no_failure { DH_ONE_VALUE, DH_STALE_SERVED };

struct dh_classified {
    const struct dh_racy_variable *variable; /* or a group of them */
    enum dh_finding_verdict verdict;         /* DH_VERDICT_NONE: nothing was run */
    struct dh_classify_column columns[DH_CLASSIFY_COLUMNS];
    unsigned n_columns;
    const struct dh_classify_column *failed; /* the column of the failing run, or NULL */
    struct dh_failing_run run;               /* of `failed` */
    struct dh_classify_column strongest;     /* a model between sc and hb, if runs with it fail: then `failed` */
    DH_VEC(struct dh_classified_pair) pairs;
    uint64_t runs, shared, loads, open_loads, stale_loads, unconfirmed, elapsed_ns, budget_ns;
    uint64_t reads;             /* of one run */
    uint64_t found_ns;          /* until the failing run was confirmed; 0: there is none */
    uint64_t instances, stores; /* of one run: locations, writes */
    uint32_t buffer_most,
        buffer_written; /* most writes of a location that the model kept, and that it would keep without GC */
    double slower;
    bool is_exact; /* systematic: nothing was left out */
    bool is_cut;   /* time was over before all that runs are made of */
    bool is_slow;
    bool is_free; /* free runs: `run` has an end and output, but no schedule */
    enum dh_no_failure no_failure;
    unsigned rate;     /* one in 2^rate of its accesses is served; 0: all */
    bool by_element;   /* the sample is by element, not by access */
    const char *how;   /* of the failure: name of an end (event/engine.h), "oracle" or "sanitizer"; NULL */
    char *why;         /* of the verdict, as text */
    char *known;       /* why it is to blame for a failure of the baseline; NULL */
    char *explanation; /* of the first stale read; "" */
};

struct dh_classify_host {
    /* Called often. */
    void (*progress)(void *arg, const char *variable, const char *what, uint64_t left_ns);
    /* False: the verdict could not be stored. */
    bool (*classified)(void *arg, const struct dh_classified *c);
    bool (*interrupted)(void *arg);
    void *arg;
};

/* `b` is not used for free runs. Places that runs reveal are added to the variables. False when no process could be
 * started, or a verdict not stored. */
bool dh_classify(struct dh_subject *s, const struct dh_baseline *b, struct dh_racy_variables *v,
                 const struct dh_classify_options *o, const struct dh_classify_host *host, struct dh_err *err);

#endif
