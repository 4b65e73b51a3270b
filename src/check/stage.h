/* A stage of check in a process of its own: however it ends, what it has stored stays, the environment is as it was,
 * and it can be made to end. Layer: check. Stage and command share a struct dh_stage_state. */
#ifndef DH_CHECK_STAGE_H
#define DH_CHECK_STAGE_H

#include "host/err.h"
#include "prove/baseline.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { DH_ATTEMPTS = 1024, DH_STAGE_WORDS = 440 };

/* How a stage ended: done, not possible as the user asked for it, or failed by itself. */
enum dh_stage_result { DH_STAGE_DONE, DH_STAGE_USAGE, DH_STAGE_FAILED };

/* What was tried for a finding already. */
struct dh_attempts {
    char id[17];
    bool settled;          /* more time would not change it: refuted, or nothing that can be searched for */
    bool proven, observed; /* by a search */
    unsigned verdicts;     /* how often it was classified */
    uint64_t spent_ns;     /* searching */
};

/* The child process whose threads are searched, if the program makes none itself (prove/children.h). */
struct dh_stage_child {
    uint64_t identity; /* 0: none */
    char build[33], program[512];
};

struct dh_stage_state {
    atomic_bool stop; /* the stage is to end with what it has */
    enum dh_stage_result result;
    char now[DH_STAGE_WORDS];    /* what it is doing, for the progress line */
    char beside[DH_STAGE_WORDS]; /* what is done in the background meanwhile, or "" */
    char said[DH_STAGE_WORDS];   /* its result in words, or "" */
    char waits[DH_STAGE_WORDS];  /* where the program waits while nothing happens, or "" */
    bool hangs, works;           /* it waits only for itself; it was ended while it worked, `waits` is where */
    char cannot[DH_STAGE_WORDS]; /* why no such stage can ever succeed, or "" */
    struct dh_hosting_check hosting;
    int status;         /* of the program, as of waitpid */
    bool made_threads;  /* in one of its runs */
    bool exhausted;     /* everything was tried */
    bool explored;      /* the same, as far as visible steps go */
    uint64_t schedules; /* that were searched, of all stages */
    struct dh_attempts tried[DH_ATTEMPTS];
    unsigned n_tried;
    struct dh_stage_child child;
};

/* Of a finding; that of the last one when there are too many. */
struct dh_attempts *dh_stage_tried(struct dh_stage_state *t, const char *id);
void dh_stage_now(struct dh_stage_state *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The result of an error, which becomes a notice. Releases it. */
void dh_stage_fail(struct dh_stage_state *t, struct dh_err *err);
void dh_stage_say(struct dh_stage_state *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Shows how far the command is; `now` NULL: the line vanishes. */
typedef void dh_stage_progress(const char *stage, uint64_t left_ns, const char *now);
/* Where no such line is: what a stage that takes long is doing, every few seconds. */
typedef void dh_stage_still(const char *stage, uint64_t so_far_ns, const char *now);

struct dh_stage {
    const char *name;
    void (*work)(void *arg, struct dh_stage_state *state); /* in the child */
    void *arg;
    uint64_t until_ns;           /* when it is asked to stop; UINT64_MAX: never */
    uint64_t grace_ns;           /* from then on until it is killed */
    uint64_t killed_ns;          /* when it is killed at the latest; 0: no such time */
    uint64_t all_ends_ns;        /* when the whole command's time is over, for the progress line */
    uint64_t idle_ns;            /* how long a program may do nothing until it is ended; 0: for ever */
    bool runs_program;           /* what it started is ended first, so that it can store what that left */
    bool is_ours;                /* shares terminal and signals with us: no progress is shown while it runs */
    dh_stage_progress *progress; /* NULL: it is not shown */
    dh_stage_still *still;       /* NULL: nothing is said */
};

struct dh_stage_end {
    bool late;   /* it was asked to stop because its time was over */
    bool failed; /* it did not come to its own end */
    uint64_t took_ns;
};

struct dh_stage_state *dh_stage_state_new(struct dh_err *err);
void dh_stage_state_free(struct dh_stage_state *t);
/* From here on SIGINT and SIGTERM stop stages instead of us; the second time they end us. */
void dh_stage_watch_signals(void);
bool dh_stage_interrupted(void);
/* The same work beside the stages, until it ends by itself or is ended; 0: there is no process. */
pid_t dh_stage_start_beside(const struct dh_stage *s, struct dh_stage_state *state);
void dh_stage_end_beside(pid_t pid, struct dh_stage_state *state);
/* How long nothing has been said to somebody without a terminal; a line was written. */
uint64_t dh_stage_silent_ns(void);
void dh_stage_spoke(void);
/* What it is doing, from a process beside the stages. */
void dh_stage_beside(struct dh_stage_state *t, const char *line);
void dh_stage_run(const struct dh_stage *s, struct dh_stage_state *state, struct dh_stage_end *end);

#endif
