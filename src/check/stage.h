/* A stage of check in a process of its own: however it ends, what it has stored stays, the environment is as it was,
 * and it can be made to end. Layer: cmd. Stage and command talk through memory that both have. */
#ifndef DH_CHECK_STAGE_H
#define DH_CHECK_STAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { DH_TRIED = 1024, DH_STAGE_WORDS = 200 };

/* What was tried of a finding already. */
struct dh_tried {
    char id[17];
    bool settled;          /* more time would not change it: refuted, or nothing that can be searched for */
    bool proven, observed; /* by a search */
    unsigned verdicts;     /* how often it was classified */
    uint64_t spent_ns;     /* searching */
};

struct dh_talk {
    atomic_bool stop;            /* the stage is to end with what it has */
    char now[DH_STAGE_WORDS];    /* what it is doing */
    char said[DH_STAGE_WORDS];   /* what came of it, "" for nothing to tell */
    char cannot[DH_STAGE_WORDS]; /* why nothing like it will ever come of it, "" otherwise */
    int code;                    /* exit code of the command that it stands for */
    int status;                  /* of the program, as of waitpid */
    bool exhausted;              /* everything was tried */
    bool explored;               /* the same, as far as visible steps go */
    uint64_t schedules;          /* that were searched, of all stages */
    struct dh_tried tried[DH_TRIED];
    unsigned n_tried;
};

/* The note on a finding; the last one when there are too many. */
struct dh_tried *dh_talk_tried(struct dh_talk *t, const char *id);
void dh_talk_now(struct dh_talk *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dh_talk_say(struct dh_talk *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct dh_stage {
    const char *name;
    void (*work)(void *arg, struct dh_talk *talk); /* in the child */
    void *arg;
    uint64_t until_ns;    /* when it is told to stop; UINT64_MAX: never */
    uint64_t grace_ns;    /* from then on until it is killed */
    uint64_t all_ends_ns; /* when the whole command's time is over, for the line that tells how far it is */
    bool runs_program;    /* what it started is ended first, so that it can store what that left */
    bool is_ours;         /* shares terminal and signals with us: no line is written while it runs */
};

struct dh_stage_end {
    bool late;   /* it was told to stop because its time was over */
    bool failed; /* it did not come to its own end */
    uint64_t took_ns;
};

/* Memory for both, or NULL. */
struct dh_talk *dh_talk_new(void);
void dh_talk_free(struct dh_talk *t);
/* From here on SIGINT and SIGTERM stop stages instead of us; the second time they end us. */
void dh_stage_watch_signals(void);
bool dh_stage_interrupted(void);
void dh_stage_run(const struct dh_stage *s, struct dh_talk *talk, struct dh_stage_end *end);

#endif
