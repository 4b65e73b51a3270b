/* The Mazurkiewicz trace of a schedule: its steps as events, with happens-before over dependence as vector clocks, and
 * the races that partial order reduction reverses. Layer: search. Events are numbered from 0; those at the end can be
 * removed, so that the common prefix of two schedules is kept. */
#ifndef DH_SEARCH_TRACE_H
#define DH_SEARCH_TRACE_H

#include "search/step.h"

#define DH_NO_EVENT UINT32_MAX

struct dh_trace_event {
    struct dh_step step;
    uint32_t thread, alternative;
    uint32_t time;     /* how many events its thread had, with this */
    uint32_t clock;    /* where in the clocks */
    uint32_t width;    /* and how many entries */
    uint32_t previous; /* event of its thread */
    uint32_t created;  /* of CREATE: the event that created the same thread before, for dh_trace_cut */
    uint32_t wide;     /* the wide event before */
    uint8_t keys;      /* or DH_STEP_WIDE */
    bool changes;
    struct dh_trace_link {
        uint32_t slot;           /* of the key */
        uint32_t before, change; /* the last with that key, and the last that changed something */
    } link[DH_STEP_KEYS];
};

struct dh_trace {
    struct dh_search *search;
    struct dh_trace_event *event;
    uint32_t event_room, n;
    uint32_t *clocks;
    uint32_t clocks_room, clocks_used;
    struct dh_trace_thread {
        uint32_t last, created; /* events */
    } *thread;
    uint32_t thread_room, threads;
    struct dh_trace_slot {
        uint64_t key;
        uint32_t last, change;
        bool used;
    } *slot;
    uint32_t slot_room, slots_used;
    uint32_t wide; /* the last */
    uint32_t *race;
    uint32_t race_room, races;
    uint32_t *basis; /* clock of a thread before its step; and after, in progress */
    uint32_t basis_room;
    uint32_t *after;
    uint32_t after_room;
};

bool dh_trace_init(struct dh_trace *t, struct dh_search *search);
/* Adds an event and finds its reversible races: the last earlier events of other threads that it could have preceded.
 * They are in `race`, valid until the next call. False: no memory. */
bool dh_trace_add(struct dh_trace *t, uint32_t thread, uint32_t alternative, const struct dh_step *step);
/* The races of a step that is not executed. `after` is the clock it would have. */
bool dh_trace_races(struct dh_trace *t, uint32_t thread, const struct dh_step *step);
/* Back to the first n events. */
void dh_trace_cut(struct dh_trace *t, uint32_t n);

static inline bool dh_trace_before(const struct dh_trace *t, const struct dh_trace_event *early,
                                   const struct dh_trace_event *late)
{
    return early->thread < late->width && t->clocks[late->clock + early->thread] >= early->time;
}

#endif
