/* Free runs (004): the program with kernel threads, nearly at full speed, while loads at chosen places get stale but
 * legal values of the model hb. For programs that the engine cannot host, servers and scripts, too. Layer: classify. A
 * run is a process with its children; its output, exit status and signals are its own. */
#ifndef DH_CLASSIFY_FREE_RUNS_H
#define DH_CLASSIFY_FREE_RUNS_H

#include "classify/trial.h"

enum dh_free_end {
    DH_FREE_EXITED,  /* by itself, with any status */
    DH_FREE_KILLED,  /* by a signal that we did not send */
    DH_FREE_HUNG,    /* did not end in time: we ended it */
    DH_FREE_DECLINED /* it did not become the variant */
};

/* One run. `stale` are the first reads that did not get the newest value, places as the subject numbers them (sites:
 * the chain of inlining is not known); `decision` is the number of the served load. */
struct dh_free_run {
    enum dh_free_end end;
    int wait_status;                  /* as of waitpid */
    struct dh_engine_outcome outcome; /* exit status, sums over the lines of standard output and error */
    char *printed;                    /* the last bytes of both; "" */
    uint64_t time_ns, cpu_ns;
    uint64_t operations; /* accesses of chosen places and synchronisation, those that were not served included */
    uint64_t loads, open_loads, stale_loads, stores;
    uint64_t passed;    /* loads that were not served, to save time */
    uint64_t locations; /* accessed at chosen places */
    uint64_t shared;    /* of them by more than one thread */
    uint64_t buffer_most, removed;
    uint64_t untold; /* locations that changed outside of chosen places: their history was discarded */
    uint32_t threads;
    uint32_t n_stale; /* may exceed what is kept */
    struct dh_engine_stale_read stale[DH_ENGINE_STALE_READS];
};

struct dh_free {
    /* Of memory/heuristics.def; "newest" serves nothing stale. NULL: the variant without an adversary. */
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
    uint64_t run_ns;     /* for one: a longer one hangs */
    uint32_t fairness;   /* as in dh_engine_job; 0: the heuristic's own */
    uint32_t threads;    /* that the model distinguishes; 0: 16. More share slots, which is legal */
    const char *program; /* what is executed with the subject's arguments: a script that starts the subject's program.
                            NULL: that itself */
    bool all;            /* every load is served, whatever it costs */
    const char *log;     /* file for everything that was served, and what orders it (for tests); NULL: none */
};

/* Calls `seen` after every run; it returns whether to go on. False when no process could be started, or there is no
 * variant. */
bool dh_free_run(const struct dh_free *f, struct dh_subject *s, bool (*seen)(void *arg, const struct dh_free_run *r),
                 void *arg, struct dh_err *err);

/* The baseline of runs with the newest values: b->outcomes, status, output_varies, errors_vary, threads,
 * schedules (runs), operations (mean), longest_ns, ends. `f` as above; its heuristic does not count. */
bool dh_free_baseline(struct dh_baseline *b, const struct dh_free *f, struct dh_subject *s, struct dh_err *err);
/* The end of the run compared with the baseline: DONE, ASSERTION (aborted), CRASH, HANG or WRONG. Without stale reads
 * it is DONE. */
enum dh_engine_end dh_free_judge(const struct dh_free_run *r, const struct dh_baseline *b);

#endif
