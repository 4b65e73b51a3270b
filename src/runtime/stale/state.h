/* What the files of stale*.c share. Layer: runtime. */
#ifndef DH_RUNTIME_STALE_STATE_H
#define DH_RUNTIME_STALE_STATE_H

#include "detect/clock.h"
#include "runtime/core/spin.h"
#include "runtime/stale/stale.h"

enum dh_stale_busy { DH_STALE_IDLE, DH_STALE_ACCESSES, DH_STALE_ORDERS };

struct dh_stale_site {
    uint32_t given;  /* loads that were served for nothing */
    uint32_t length; /* of the row that is passed over */
};

/* Written by its thread alone. */
struct dh_stale_thread {
    uint32_t slot, index;
    struct dh_clock clock;
    bool dirty; /* it wrote a location since its own entry rose */
    uint8_t busy;
    bool has_fence_release, has_fence_acquire;
    struct dh_clock fence_release, fence_acquire;
    struct dh_stale_counts *counts;
    /* Cycles that may still be spent, and when it was last looked at. */
    int64_t credit;
    uint64_t last;
    struct dh_stale_site sites[DH_STALE_SITES];
};

/* stale_threads.c: a slot is what the model takes for a thread. One whose thread ended goes to the next; with more
 * threads than slots some share one: as if one went on with what the other did. */
struct dh_stale_slot {
    uint32_t users;
    uint32_t generation; /* when that changed */
    uint32_t last;       /* entry of its own that was used last */
    struct dh_clock birth;
};
extern struct dh_stale_registry {
    dh_spin lock;
    _Atomic uint32_t generation;
    uint32_t slots;
    struct dh_stale_slot slot[DH_STALE_SLOTS_MOST];
} dh_stale_registry;

void dh_stale_threads_start(uint32_t slots);
/* Called by the only thread, when another is about to be created: what was written so far is what locations begin with.
 */
void dh_stale_activate(void);
/* The calling thread's loads ask from now on. */
static inline void dh_stale_serve_every_site(void)
{
    for (unsigned i = 0; i < DH_STALE_SITES; i++)
        __dh_thread.stale_skip[i] = 1;
}
void dh_stale_threads_forked(void);

void dh_stale_sampling_forked(void);

bool dh_stale_serve_start(void);
void dh_stale_serve_forked(void);

/* All that follows is in another epoch of its own, if anything happened in this one. */
static inline void dh_stale_tick(struct dh_stale_thread *t)
{
    if (!t->dirty)
        return;
    t->dirty = false;
    t->clock.at[t->slot]++;
}

static inline void dh_stale_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* Inside the lock of what it is about. */
void dh_stale_log(uint32_t thread, enum dh_stale_kind kind, uint64_t object, unsigned size, uint64_t value);

#endif
