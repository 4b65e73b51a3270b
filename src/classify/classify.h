/* A campaign over racy variables: for each, runs under memory models with values that an adversary picks, and what came
 * of them; then, of those that did no harm alone, together. Layer: classify. One thread; runs are processes. */
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
    const char *model;  /* only this one; NULL: all */
    const char *oracle; /* command that judges outputs (classify/oracle.h); NULL: none */
    bool systematic;    /* all values in all schedules instead of chance, under `model` or hb */
    bool alone;         /* no groups */
    bool free;          /* with kernel threads that run free; the baseline is collected for each variable, then */
};

/* One way of choosing values. */
struct dh_classify_column {
    const char *title, *model, *heuristic;
    bool tears;
    uint64_t runs, failed, stale_loads, open_loads;
    double slower; /* operations against the baseline's */
};

/* Two places whose accesses race: what comes of it when nothing else is in doubt. */
struct dh_classified_pair {
    const struct dh_finding *finding; /* that names them; borrowed */
    const char *verdict;              /* as the variable's */
    char *why;
};

/* Of a variable without failure: which of the two it was. */
enum dh_no_failure { DH_ONE_VALUE, DH_STALE_SERVED };

struct dh_classified {
    const struct dh_racy_variable *variable; /* or a group of them */
    const char *verdict;                     /* "destructive", "qos", "no-failure", "none": nothing was run */
    struct dh_classify_column columns[DH_CLASSIFY_COLUMNS];
    unsigned n_columns;
    const struct dh_classify_column *failed; /* the column of the failing run, or NULL */
    struct dh_failing_run run;               /* of it */
    struct dh_classify_column strongest;     /* runs by a model between sc and hb, if those fail: then `failed` */
    DH_VEC(struct dh_classified_pair) pairs;
    uint64_t runs, shared, loads, open_loads, stale_loads, unconfirmed, elapsed_ns, budget_ns;
    uint64_t reads;                       /* of one run */
    uint64_t found_ns;                    /* until the failing run was confirmed; 0: there is none */
    uint64_t instances, stores;           /* of one run: locations, writes */
    uint32_t buffer_most, buffer_written; /* writes of a location that were kept at most, and without GC */
    double slower;
    bool is_exact; /* systematic: nothing was left out */
    bool is_slow, stale_inline;
    bool is_free; /* threads ran free: `run` has its end and output, but no schedule */
    enum dh_no_failure no_failure;
    unsigned rate;     /* one in 2^rate of its accesses is served; 0: all */
    bool by_element;   /* all accesses of some elements are, not some of all */
    const char *how;   /* it failed, as a word: an end's name (event/engine.h), "oracle" or "sanitizer"; NULL */
    char *why;         /* how it failed, or why nothing is said */
    char *known;       /* why it is to blame for what the baseline fails with, too; NULL */
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

/* `b` is not asked for when runs are free. Variables learn other names of theirs. False when no process could be
 * started, or a verdict not kept. */
bool dh_classify(struct dh_subject *s, const struct dh_baseline *b, struct dh_racy_variables *v,
                 const struct dh_classify_options *o, const struct dh_classify_host *host, struct dh_err *err);

#endif
