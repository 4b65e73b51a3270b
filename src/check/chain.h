/* The chain of check: find, prove, classify, heal, in rounds within a budget. Layer: check. Stages pass findings on
 * through the store; the command fills in struct dh_check, and prints by the functions of its host. */
#ifndef DH_CHECK_CHAIN_H
#define DH_CHECK_CHAIN_H

#include "check/input.h"
#include "check/stage.h"
#include "finding/store.h"
#include "prove/subject.h"

struct dh_check;
struct dh_check_host {
    dh_stage_progress *progress; /* NULL: there is no terminal */
    dh_stage_still *still;
    /* A stage is over; `said` is its result in words. */
    void (*ended)(const char *stage, uint64_t took_ns, const char *said);
    /* All is over before the budget is. */
    void (*over_early)(uint64_t took_ns, uint64_t budget_ns, const char *why);
};

struct dh_check {
    const struct dh_check_host *host;
    const char *db, *suppressions; /* suppressions: file, or NULL */
    char **argv;                   /* of the program */
    char *program;                 /* its file, links followed */
    bool is_searchable;            /* built with deadheat: it carries its module */
    char *policy;                  /* where healing goes */
    uint64_t began_ns, budget_ns;
    uint64_t prove_ns, classify_ns; /* at most so much; 0: not at all */
    uint64_t scan_ns;               /* what static analysis may take */
    uint64_t schedules;             /* of each search at most, and each goal is searched for once; 0: no limit */
    bool only_run;                  /* one run, and nothing else */
    bool in_haste; /* there is no time to make a variant for every detector: runs take the program as it is */
    bool heals, reports_all;
    bool for_real;     /* what its runs write to files stays */
    bool is_part;      /* of a script: its first run is as quiet as the others */
    bool keeps_stdout; /* the program writes to standard error: standard output is for the document of the command */
    long long since;   /* ours are the runs of the store after this one */
    struct dh_check_input input;
    const char *child; /* that is searched, by number or name; NULL: the program, or whichever makes threads */
    struct dh_stage_state *state;

    int status;          /* of the first run */
    bool status_is_ours; /* it ended because we ended it */
    uint64_t run_ns;     /* that it took */
    unsigned runs;
    unsigned refused; /* findings that could be healed, and which healing has already failed for */
    bool interrupted;
};

/* When all stages are to be over: what they found is still to be printed. */
static inline uint64_t dh_check_ends(const struct dh_check *c)
{
    return c->began_ns + c->budget_ns - (c->budget_ns < 50000000000u ? c->budget_ns / 50 : 1000000000u);
}

/* This call's findings of the store, copies, proven ones first. */
struct dh_found {
    DH_VEC(struct dh_finding *) at;
};
bool dh_check_found(const struct dh_check *c, struct dh_found *out, struct dh_err *err);
void dh_found_release(struct dh_found *f);
/* Its witness is a failing run by itself: deadlocks, crashes and the like. */
bool dh_found_is_failure(const struct dh_finding *f);
/* A search can have its kind as a goal. */
bool dh_found_is_searched(const struct dh_finding *f);

/* All stages, until no finding can rise any more, or time is over, or the user interrupts. Not DH_STAGE_DONE: the
 * program could not even be run. */
enum dh_stage_result dh_check_chain(struct dh_check *c);

/* ---- stages, in processes of their own (check/stage.h) ---- */

void dh_check_scan(void *arg, struct dh_stage_state *t); /* of struct dh_check */

struct dh_check_run {
    const struct dh_check *c;
    const char *noise; /* NULL: none */
    unsigned seed;
    bool is_first; /* the only one with the user's streams */
};
void dh_check_run(void *arg, struct dh_stage_state *t);
/* Makes the variant that runs need. `arg` is the struct dh_check. */
void dh_check_prepare_run(void *arg, struct dh_stage_state *t);
/* How long that will take, roughly; 0: it is there. */
uint64_t dh_check_run_estimate_ns(const struct dh_check *c);
bool dh_check_has_search_variant(const struct dh_check *c);
/* Beside the stages: the variants that they will need, first that of runs; in haste first that of searches. */
void dh_check_derive_all(void *arg, struct dh_stage_state *t);

struct dh_check_search {
    const struct dh_check *c;
    uint64_t goal_ns;  /* for each finding */
    uint64_t until_ns; /* for all of them */
    bool thorough;     /* also other pairs of places of variables with a proven race */
    bool statics;      /* suspicions of static analysis instead of findings of runs */
    bool explores;     /* without goals: whatever there is */
    bool weak;         /* atomics may have stale values that a weak memory model allows */
    uint64_t seed;
};
void dh_check_search(void *arg, struct dh_stage_state *t);
/* Makes the variant that searches need, and compares it with the program itself. */
void dh_check_prepare(void *arg, struct dh_stage_state *t);
#define DH_CHECK_COMPARING "comparing an undisturbed run with a native one" /* what it does last */
/* Searches for wrong ends, and blames findings for them. */
void dh_check_outcomes(void *arg, struct dh_stage_state *t);

struct dh_check_classify {
    const struct dh_check *c;
    uint64_t budget_ns;
    bool thorough;  /* more runs; variables without failure again, and as groups */
    bool concludes; /* nothing is run: only what follows from what is proven */
};
void dh_check_classify(void *arg, struct dh_stage_state *t);

struct dh_check_heal {
    const struct dh_check *c;
    uint64_t budget_ns;
};
void dh_check_heal(void *arg, struct dh_stage_state *t);

/* The program as the subject of searches. False: the stage has failed, and nothing is to be released. */
bool dh_check_open_subject(const struct dh_check *c, struct dh_subject *s, struct dh_stage_state *t);
/* The same, or the child process in which a search found threads. */
bool dh_check_open_followed(const struct dh_check *c, struct dh_subject *s, struct dh_stage_state *t);
/* For later stages: which child process the subject follows, if any. */
void dh_check_keep_child(const struct dh_subject *s, struct dh_stage_state *t);

/* Whether a finding is worth a search, a verdict, healing. */
bool dh_check_is_goal(const struct dh_check *c, const struct dh_finding *f, bool statics);
bool dh_check_is_unclassified(const struct dh_check *c, const struct dh_finding *f, bool thorough);
bool dh_check_is_healable(const struct dh_finding *f);

#endif
