/* The views of a run (000 §3): the fields that each thread accessed in its critical sections, by lock, equal ones once.
 * Layer: detect. For the detectors that compare sections (views, methods), each with a store of its own. A lock that is
 * destroyed, or whose address becomes another lock, is retired: its views are compared then and freed. */
#ifndef DH_DETECT_VIEW_STORE_H
#define DH_DETECT_VIEW_STORE_H

#include "base/map.h"
#include "detect/critical_sections.h"
#include "detect/field_set.h"
#include "detect/hb_snapshot.h"
#include "detect/run_state.h"

enum { DH_VIEW_SAMPLES = 12 /* of a view's occurrences: the 1st, 2nd, 4th, 8th, ... */ };

/* Code that begins a section, and the names that it was seen to access or may access. */
struct dh_view_code {
    uint32_t site, ctx;
    DH_VEC(uint32_t) names;
};

struct dh_view {
    struct dh_critical_section in; /* `part` holds the fields; `whole` is empty */
    size_t code;                   /* index */
    bool atomic;                   /* without releasing the lock in between */
    bool complete;                 /* the section as written, waits included */
    uint64_t times;                /* it occurred */
    struct dh_hb_snapshot *samples[DH_VIEW_SAMPLES];
    size_t n_samples;
    struct dh_hb_epoch last; /* of the last occurrence */
};

struct dh_guarded_views {
    uint64_t lock;
    uint32_t id;
    DH_VEC(struct dh_view *) views;
};

struct dh_view_store {
    struct dh_run_state *run;
    struct dh_field_names names;
    struct dh_hb_snapshots snapshots;
    struct dh_critical_sections open;
    DH_VEC(struct dh_guarded_views *) guards;
    DH_VEC(struct dh_view_code) codes;
    struct dh_u64_map by_lock, by_view, alike, by_code;
    /* No more views of this lock will come: compare them. They are freed afterwards. */
    void (*retire)(void *arg, struct dh_guarded_views *g);
    /* May be NULL. A section has ended; `v` is its view as written, or NULL when too many are alike. */
    void (*section)(void *arg, struct dh_guarded_views *g, struct dh_view *v, const struct dh_critical_section *c);
    void *arg;
};

void dh_view_store_init(struct dh_view_store *s, struct dh_run_state *w);
void dh_view_store_event(struct dh_view_store *s, const struct dh_event *e);
/* Retires every lock. */
void dh_view_store_end(struct dh_view_store *s);
void dh_view_store_release(struct dh_view_store *s);

/* May the code of the view access that name, or was it seen to? */
bool dh_view_may_access(const struct dh_view_store *s, const struct dh_view *v, uint32_t name);
/* Can the view occur after one point and before another, as far as the samples show? */
bool dh_view_comes_between(const struct dh_view *v, const struct dh_hb_snapshot *after, struct dh_hb_epoch before);
/* The lock as reports show it. */
struct dh_lock_hold dh_view_lock(const struct dh_view *v);
/* The place of the access, the write if there is one. */
struct dh_field_place dh_field_place_of(const struct dh_field *f, bool *write);

#endif
