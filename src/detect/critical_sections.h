/* Critical sections as the run goes through them: what was accessed from taking a lock to giving it. Layer: detect.
 * Keeps the sections that are open, per thread; whoever watches (views, methods) gets each one as it closes. A
 * condition wait gives the lock up: the part before and the part after are atomic for themselves only, and the whole
 * is what the source writes as one section. */
#ifndef DH_DETECT_CRITICAL_SECTIONS_H
#define DH_DETECT_CRITICAL_SECTIONS_H

#include "detect/field_set.h"
#include "detect/run_state.h"

/* A lock around a section. */
struct dh_outer_lock {
    uint32_t id;
    bool shared;
};

struct dh_critical_section {
    uint64_t lock;
    uint32_t id, thread;
    bool shared;
    uint32_t site, ctx;                 /* where it was taken first */
    uint64_t began;                     /* dh_held.taken of the first taking */
    bool waited;                        /* it has been given up for a condition */
    bool waiting;                       /* and is now */
    DH_VEC(struct dh_outer_lock) outer; /* locks held from before it began until it ended */
    struct dh_field_set part, whole;    /* since the last wait; all of it. `whole` is empty when it never waited */
};

struct dh_critical_sections {
    struct dh_run_state *world;
    struct dh_field_names *names;
    DH_VEC(struct dh_open_sections *) threads;
    /* A part has ended (at a wait), or the section has; `part` is settled, and `whole` when it has ended. */
    void (*closed)(void *arg, const struct dh_critical_section *s, bool ended);
    void *arg;
};

void dh_critical_sections_init(struct dh_critical_sections *s, struct dh_run_state *w, struct dh_field_names *names,
                               void (*closed)(void *, const struct dh_critical_section *, bool), void *arg);
void dh_critical_sections_release(struct dh_critical_sections *s);
/* Accesses and lock events; others are ignored. */
void dh_critical_sections_event(struct dh_critical_sections *s, const struct dh_event *e);

/* Is there a lock around all of them that keeps `alone` from coming between the other two? */
bool dh_critical_sections_share_outer(const struct dh_critical_section *alone, const struct dh_critical_section *a,
                                      const struct dh_critical_section *b);

#endif
