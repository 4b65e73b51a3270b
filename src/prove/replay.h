/* A schedule run once in a fresh process whose threads are the kernel's, and what came of it. Layer: prove. */
#ifndef DH_PROVE_REPLAY_H
#define DH_PROVE_REPLAY_H

#include "base/str.h"
#include "base/vec.h"
#include "prove/engine_process.h"

struct dh_schedule {
    const struct dh_engine_decision *decisions;
    uint32_t n;
    const dh_engine_marks *visible;       /* per place */
    uint32_t flags;                       /* enum dh_engine_flag: what the search had */
    const struct dh_engine_value *values; /* of a run of it, one per decision; NULL: not known */
    struct dh_adversary_setup adversary;
};

struct dh_replayed {
    uint32_t state;   /* enum dh_engine_state; as it was last when the process had to be killed */
    uint32_t carrier; /* enum dh_engine_carrier */
    bool in_time;     /* it ended by itself */
    int status;       /* as of waitpid */
    uint32_t diverged_at;
    struct dh_engine_party diverged;
    char text[256];
    struct dh_engine_progress *progress;   /* as it was last; owned */
    DH_VEC(struct dh_engine_found *) ends; /* what it came to, in that order; owned */
    struct dh_str output;                  /* what the program wrote, if that was asked for */
};

enum {
    DH_REPLAY_CAPTURE = 1,
    DH_REPLAY_SHOW = 2,
    DH_REPLAY_GO_ON = 4,
    DH_REPLAY_NO_RACES = 8,
    DH_REPLAY_LOOSE = 32, /* what does not fit any more is left out, up to the program's own end */
    DH_REPLAY_TRAP = 16,  /* stops where the schedule ends, for a debugger */
};

/* False only when the process could not be started. Released by the caller. */
bool dh_replay(const struct dh_subject_start *start, const struct dh_schedule *s, unsigned how, uint64_t patience_ns,
               struct dh_replayed *out, struct dh_err *err);
void dh_replayed_release(struct dh_replayed *r);
/* How it came to that end, or to the same one by other threads; NULL: it did not. */
const struct dh_engine_found *dh_replayed_find_equivalent(const struct dh_replayed *r,
                                                          const struct dh_engine_found *end);
/* The same, of the same threads. */
const struct dh_engine_found *dh_replayed_find(const struct dh_replayed *r, const struct dh_engine_found *end);
/* The values of the first `n` steps of that run, owned by the caller; NULL: there are not so many. */
struct dh_engine_value *dh_replay_values(const struct dh_engine_found *end, uint32_t n);
/* Why it did not, in words. */
void dh_replayed_explain(struct dh_str *out, const struct dh_replayed *r);

#endif
