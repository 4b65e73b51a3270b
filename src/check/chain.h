/* The chain that check goes through, and what its stages need to know of it. Layer: cmd. The store is what they hand on
 * to each other; this struct is filled in by the command before the first of them. */
#ifndef DH_CHECK_CHAIN_H
#define DH_CHECK_CHAIN_H

#include "check/input.h"
#include "check/stage.h"
#include "finding/store.h"
#include "host/process.h"

struct dh_check {
    const char *db, *suppressions; /* suppressions: file, or NULL */
    char **argv;                   /* of the program */
    char *program;                 /* its file, links followed */
    bool is_searchable;            /* a binary of ours, which carries what the searches need */
    char *policy;                  /* where healing goes */
    uint64_t began_ns, budget_ns;
    uint64_t prove_ns, classify_ns; /* at most so much; 0: not at all */
    bool only_run;                  /* one run, and nothing else */
    bool heals, as_json, tells_all;
    long long since; /* run of the store behind which ours are */
    struct dh_check_input input;
    struct dh_talk *talk;

    int status;          /* of the first run */
    bool status_is_ours; /* it ended because we ended it */
    uint64_t run_ns;     /* that it took */
    unsigned runs;
    bool cannot_search, interrupted;
};

/* What the store holds of this call's findings, copies, best known first. */
struct dh_found {
    DH_VEC(struct dh_finding *) at;
};
bool dh_check_found(const struct dh_check *c, struct dh_found *out, struct dh_err *err);
void dh_found_release(struct dh_found *f);
/* 0 suspected, 1 observed, 2 proven. */
unsigned dh_found_level(const struct dh_finding *f);
/* A witness of it is a failing run already: deadlocks, crashes and the like. */
bool dh_found_is_failure(const struct dh_finding *f);
/* 'deadheat prove' looks for its kind. */
bool dh_found_is_searched(const struct dh_finding *f);

/* All stages, until nothing can rise any more, or time is over, or somebody interrupts. DH_EXIT_OK, or the exit code of
 * a program that could not even be run. */
int dh_check_chain(struct dh_check *c);

/* ---- stages, in processes of their own (check_stage.h); `arg` says more ---- */

void dh_check_scan(void *arg, struct dh_talk *t); /* struct dh_check */

struct dh_check_run {
    const struct dh_check *c;
    const char *noise; /* NULL: none */
    unsigned seed;
    bool is_first; /* the only one with the user's streams */
};
void dh_check_run(void *arg, struct dh_talk *t);
/* The variant that it needs, beforehand. `arg` is the struct dh_check. */
void dh_check_prepare_run(void *arg, struct dh_talk *t);

struct dh_check_search {
    const struct dh_check *c;
    uint64_t goal_ns;  /* for each finding */
    uint64_t until_ns; /* for all of them */
    bool thorough;     /* also other pairs of places of what is proven */
    bool statics;      /* what only static analysis suspects, instead of what runs gave */
    bool explores;     /* instead of findings: everything */
    bool weak;         /* with values of atomics that a weak memory model allows */
    uint64_t seed;
};
void dh_check_search(void *arg, struct dh_talk *t);
void dh_check_prepare(void *arg, struct dh_talk *t); /* makes what the others need */
/* Schedules to their end, for ends that are wrong, and what they are to be blamed on. */
void dh_check_outcomes(void *arg, struct dh_talk *t);

struct dh_check_classify {
    const struct dh_check *c;
    uint64_t budget_ns;
    bool thorough; /* more runs; those without failure again, and together */
};
void dh_check_classify(void *arg, struct dh_talk *t);

struct dh_check_heal {
    const struct dh_check *c;
    uint64_t budget_ns;
};
void dh_check_heal(void *arg, struct dh_talk *t);

/* Worth a search, as far as is known yet; a verdict; healing. */
bool dh_check_is_goal(const struct dh_check *c, const struct dh_finding *f, bool statics);
bool dh_check_is_unclassified(const struct dh_check *c, const struct dh_finding *f, bool thorough);
bool dh_check_is_healable(const struct dh_finding *f);

#endif
