/* The part of RC11 that concerns seq_cst: is there a modification order of all locations, among those that coherence
 * and atomicity allow, under which the partial order psc (Lahav et al., PLDI 2017, §3) has no cycle?
 * Layer: memory. Keeps all events of a run, up to a limit: any of them can matter to a seq_cst fence to come. */
#ifndef DH_MEMORY_C11_PSC_H
#define DH_MEMORY_C11_PSC_H

#include "memory/clocks.h"
#include "memory/modification_order.h"

enum { DH_C11_EVENTS = 128, DH_C11_DEPTH = 16 };

struct dh_c11_set {
    uint64_t half[DH_C11_EVENTS / 64];
};

/* Sets are of earlier events. */
struct dh_c11_event {
    uint32_t thread, epoch;
    bool is_sc;
    bool begins;            /* the first one of its location */
    struct dh_location *at; /* NULL: fences and synchronisation */
    struct dh_memory_write *read, *wrote;
    struct dh_c11_set hb;    /* happen before it */
    struct dh_c11_set apart; /* precede it in its thread, at other locations */
    struct dh_c11_set scb;   /* precede it in scb, whatever the modification order */
};

struct dh_c11_log {
    uint32_t count;
    bool has_sc; /* some event is seq_cst: there is something to decide */
    struct dh_c11_event *event[DH_C11_EVENTS];
};

/* Of no use between two calls. */
struct dh_c11_scratch {
    struct dh_c11_set scb[DH_C11_EVENTS], eco[DH_C11_EVENTS], psc[DH_C11_EVENTS];
    uint64_t saved[DH_C11_DEPTH][DH_MEMORY_HISTORY_MOST];
    uint32_t trials;
    bool gave_up; /* too many to try: no was answered for not knowing */
};

/* An event of a thread whose clock is `clock`; NULL: no room. */
struct dh_c11_event *dh_c11_log_add(struct dh_c11_log *log, struct dh_run_arena *arena,
                                    const struct dh_c11_event *event, const uint32_t *clock);
/* Looks for a modification order and leaves it in `trial` of the writes of all locations of the log. */
bool dh_c11_log_solve(struct dh_c11_log *log, struct dh_c11_scratch *work);

#endif
