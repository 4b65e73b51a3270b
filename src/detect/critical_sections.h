/* Critical sections of a run: the fields that a thread accessed from acquiring a lock to releasing it. Layer: detect.
 * Keeps the open sections of each thread and calls back when one closes (views, methods). A condition wait releases the
 * lock: the part before and the part after are atomic by themselves only; the whole is the section as the source has
 * it. */
#ifndef DH_DETECT_CRITICAL_SECTIONS_H
#define DH_DETECT_CRITICAL_SECTIONS_H

#include "detect/field_set.h"
#include "detect/run_state.h"

/* A lock that is held around a section. */
struct dh_outer_lock {
    uint32_t id;
    bool shared;
};

struct dh_critical_section {
    uint64_t lock;
    uint32_t id, thread;
    bool shared;
    uint32_t site, ctx;                 /* where it was acquired first */
    uint64_t acquisition;               /* number of the first, as dh_lock_hold has it */
    bool waited;                        /* the lock has been released by a condition wait */
    bool waiting;                       /* and is released now */
    DH_VEC(struct dh_outer_lock) outer; /* held from before it began until it ended */
    struct dh_field_set part, whole;    /* since the last wait; all of it. `whole` is empty when it never waited */
};

struct dh_critical_sections {
    struct dh_run_state *run;
    struct dh_field_names *names;
    DH_VEC(struct dh_open_sections *) threads;
    /* A part has ended (at a wait), or the section has; `part` is normalised, and `whole` when it has ended. */
    void (*closed)(void *arg, const struct dh_critical_section *s, bool ended);
    void *arg;
};

void dh_critical_sections_init(struct dh_critical_sections *s, struct dh_run_state *w, struct dh_field_names *names,
                               void (*closed)(void *, const struct dh_critical_section *, bool), void *arg);
void dh_critical_sections_release(struct dh_critical_sections *s);
/* Accesses and lock events; others are ignored. */
void dh_critical_sections_event(struct dh_critical_sections *s, const struct dh_event *e);

/* Is there an outer lock of all three that excludes `alone` from coming between the other two? */
bool dh_critical_sections_share_outer(const struct dh_critical_section *alone, const struct dh_critical_section *a,
                                      const struct dh_critical_section *b);

#endif
