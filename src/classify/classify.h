/* A campaign over racy variables: for each, runs under memory models with values that an adversary picks, and what came
 * of them. Layer: classify. One thread; runs are processes. */
#ifndef DH_CLASSIFY_CLASSIFY_H
#define DH_CLASSIFY_CLASSIFY_H

#include "classify/fewest.h"
#include "classify/trial.h"
#include "classify/variables.h"

enum { DH_CLASSIFY_COLUMNS = 8 };

struct dh_classify_options {
    uint64_t budget_ns; /* for each variable */
    uint64_t seed;
    uint64_t runs;     /* schedules of a heuristic */
    const char *model; /* only this one; NULL: all */
};

/* One way of choosing values. */
struct dh_classify_column {
    const char *title, *model, *heuristic;
    bool tears;
    uint64_t runs, failed, stale_loads, open_loads;
    double slower; /* operations against the baseline's */
};

struct dh_classified {
    const struct dh_racy_variable *variable;
    const char *verdict; /* "destructive", "qos", "no-failure", "none": nothing was run */
    struct dh_classify_column columns[DH_CLASSIFY_COLUMNS];
    unsigned n_columns;
    const struct dh_classify_column *failed; /* the column of the failing run, or NULL */
    struct dh_failing_run run;               /* of it */
    uint64_t runs, shared, loads, open_loads, stale_loads, unconfirmed, elapsed_ns;
    double slower;
    bool is_slow, stale_inline;
    unsigned rate;     /* one in 2^rate of its accesses is served; 0: all */
    bool by_element;   /* all accesses of some elements are, not some of all */
    char *why;         /* how it failed, or why nothing is said */
    char *explanation; /* of the first wrong read; "" */
};

struct dh_classify_host {
    /* What is done now; may be called often. */
    void (*progress)(void *arg, const char *variable, const char *what, uint64_t left_ns);
    /* One is done. False: it could not be kept. */
    bool (*classified)(void *arg, const struct dh_classified *c);
    bool (*interrupted)(void *arg);
    void *arg;
};

/* False when no process could be started, or a verdict not kept. */
bool dh_classify(struct dh_subject *s, const struct dh_baseline *b, const struct dh_racy_variables *v,
                 const struct dh_classify_options *o, const struct dh_classify_host *host, struct dh_err *err);

#endif
