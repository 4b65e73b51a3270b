/* Free-running classify (004): the program with kernel threads and nearly at its own speed, while loads of chosen
 * places answer stale but legal values by the model hb. For programs that the engine cannot host, servers and scripts
 * too. Layer: classify. A run is a process, and those that it starts; its output, exit status and signals stay its own.
 */
#ifndef DH_CLASSIFY_FREE_RUNS_H
#define DH_CLASSIFY_FREE_RUNS_H

#include "classify/trial.h"

enum dh_free_end {
    DH_FREE_EXITED,  /* by itself, with any status */
    DH_FREE_KILLED,  /* by a signal that we did not send */
    DH_FREE_HUNG,    /* did not end in time: we ended it */
    DH_FREE_DECLINED /* it never became the variant: nothing was served */
};

/* One run. `stale` are the first reads that did not get the newest value, places as the subject numbers them (sites:
 * the chain of inlining is not known); `decision` is the number of the served load. */
struct dh_free_run {
    enum dh_free_end end;
    int wait_status;                  /* as of waitpid */
    struct dh_engine_outcome outcome; /* exit status, sums over the lines of standard output and error */
    char *printed;                    /* the last of what it wrote to both; "" */
    uint64_t time_ns, cpu_ns;
    uint64_t operations; /* accesses of chosen places and synchronisation, those that were not served included */
    uint64_t loads, open_loads, stale_loads, stores;
    uint64_t passed;    /* of the loads: not asked about, since too much time would have gone into it */
    uint64_t locations; /* that were accessed there */
    uint64_t shared;    /* of them by more than one thread */
    uint64_t buffer_most, removed;
    uint64_t untold; /* locations that were found changed by somebody else: they began anew */
    uint32_t threads;
    uint32_t n_stale; /* may exceed what is kept */
    struct dh_engine_stale_read stale[DH_ENGINE_STALE_READS];
};

struct dh_free {
    /* Of memory/heuristics.def; "newest" serves nothing stale. NULL: nobody is asked, the variant alone is run. */
    const char *heuristic;
    const uint8_t *marks; /* a byte per place of the subject: STALE, TEARS, BY_ADDRESS (elements are sampled) */
    const struct dh_racy_element *elements; /* of arrays, that are watched for longest; borrowed */
    size_t n_elements;
    const uint32_t *only; /* places of loads that may be stale, at most DH_STALE_ONLY; NULL: all that are marked */
    unsigned n_only;
    char *const *sites; /* of libraries, by their names, that are chosen, too */
    size_t n_sites;
    uint64_t seed; /* of the first run; the next has the next */
    uint64_t runs;
    uint64_t time_ns;    /* for all of them; 0: no limit */
    uint64_t run_ns;     /* for one: who takes longer hangs */
    uint32_t fairness;   /* as in dh_engine_job; 0: the heuristic's own */
    uint32_t threads;    /* that the model shall tell apart; 0: 64. More share what is known of them, which is legal */
    const char *program; /* what is executed with the subject's arguments: a script that starts the subject's program.
                            NULL: that itself */
    bool all;            /* every load is served, whatever it costs */
    const char *log;     /* file for everything that was served, and what orders it (for tests); NULL: none */
};

/* The variant in which only these places ask. Takes seconds the first time; then it is in the cache. dh_free_run does
 * it by itself. */
bool dh_free_prepare(const struct dh_free *f, struct dh_subject *s, struct dh_err *err);
/* Run after run; `seen` is told of each and says whether to go on. False when no process could be started, or there is
 * no variant. */
bool dh_free_run(const struct dh_free *f, struct dh_subject *s, bool (*seen)(void *arg, const struct dh_free_run *r),
                 void *arg, struct dh_err *err);

/* What the program does when loads get the newest values: b->outcomes, status, output_varies, errors_vary, threads,
 * schedules (runs), operations (mean), longest_ns, ends. `f` as above; its heuristic does not count. */
bool dh_free_baseline(struct dh_baseline *b, const struct dh_free *f, struct dh_subject *s, struct dh_err *err);
/* How the run ended against the baseline: DONE, ASSERTION (aborted), CRASH, HANG or WRONG. One in which no read was
 * stale is DONE: whatever it does, it does by itself. */
enum dh_engine_end dh_free_judge(const struct dh_free_run *r, const struct dh_baseline *b);

#endif
