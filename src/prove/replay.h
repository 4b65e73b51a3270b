/* Replay of a schedule in a new process with serial kernel threads, and the ends it came to. Layer: prove. */
#ifndef DH_PROVE_REPLAY_H
#define DH_PROVE_REPLAY_H

#include "base/str.h"
#include "base/vec.h"
#include "prove/engine_process.h"

struct dh_schedule {
    const struct dh_engine_decision *decisions;
    uint32_t n;
    const dh_engine_marks *visible;       /* per place */
    uint32_t flags;                       /* enum dh_engine_flag of the search */
    const struct dh_engine_value *values; /* of its accesses, one per decision; NULL: unknown */
    struct dh_adversary_setup adversary;
};

/* A schedule is confirmed when it came to its end so often, all but once in a perturbed process. */
enum { DH_REPLAYS_TO_CONFIRM = 5 };

struct dh_replayed {
    uint32_t state;   /* enum dh_engine_state; the last one if the process was killed */
    uint32_t carrier; /* enum dh_engine_carrier */
    bool in_time;     /* it ended by itself */
    int status;       /* as of waitpid */
    uint32_t diverged_at;
    struct dh_engine_party diverged;
    char text[256];
    struct dh_engine_progress *progress; /* final; owned */
    struct dh_engine_library *libraries; /* that are instrumented; owned */
    uint32_t n_libraries;
    DH_VEC(struct dh_engine_found *) ends; /* in the order they were found; owned */
    struct dh_str output;                  /* of the program, with CAPTURE */
};

enum {
    DH_REPLAY_CAPTURE = 1,
    DH_REPLAY_SHOW = 2,
    DH_REPLAY_GO_ON = 4,
    DH_REPLAY_NO_RACES = 8,
    DH_REPLAY_LOOSE = 32,    /* decisions that do not fit are left out, to the end of the program */
    DH_REPLAY_TRAP = 16,     /* SIGTRAP at the end of the schedule, for a debugger */
    DH_REPLAY_FOR_REAL = 64, /* files and descriptors are the kernel's */
};

/* False when the process could not be started. `out` is released by the caller. */
bool dh_replay(const struct dh_subject_start *start, const struct dh_schedule *s, unsigned how, uint64_t patience_ns,
               struct dh_replayed *out, struct dh_err *err);
void dh_replayed_release(struct dh_replayed *r);
/* The pair of unordered accesses that the schedule leads to, with the stacks and locks of both; owned by the caller;
 * NULL: it does not lead there again. */
struct dh_engine_found *dh_replay_unordered(const struct dh_subject_start *start, const struct dh_schedule *s,
                                            const struct dh_engine_found *pair, uint64_t patience_ns);
/* The same end, or an equivalent one by other threads; NULL: none. */
const struct dh_engine_found *dh_replayed_find_equivalent(const struct dh_replayed *r,
                                                          const struct dh_engine_found *end);
/* The same end by the same threads; NULL: none. */
const struct dh_engine_found *dh_replayed_find(const struct dh_replayed *r, const struct dh_engine_found *end);
/* Values of the first `n` steps, owned by the caller; NULL: there are fewer. */
struct dh_engine_value *dh_replay_values(const struct dh_engine_found *end, uint32_t n);
/* Why it did not come to the end, as text. */
void dh_replayed_explain(struct dh_str *out, const struct dh_replayed *r);

#endif
