/* What the files of adversarial memory share: threads with clocks and budgets, thread slots of the model. Layer:
 * runtime. */
#ifndef DH_RUNTIME_STALE_STATE_H
#define DH_RUNTIME_STALE_STATE_H

#include "detect/clock.h"
#include "runtime/platform/spin.h"
#include "runtime/race/sync_table.h"
#include "runtime/stale/stale.h"

enum dh_stale_busy { DH_STALE_IDLE, DH_STALE_ACCESSES, DH_STALE_ORDERS };

struct dh_stale_site {
    uint32_t free_loads; /* loads that were served regardless of the budget */
    uint32_t length;     /* loads that are skipped in a row */
};

/* Written by its thread alone. */
struct dh_stale_thread {
    uint32_t slot, index;
    struct dh_clock clock;
    bool dirty; /* it wrote a location since its own clock entry changed */
    uint8_t busy;
    struct dh_fences fences;
    struct dh_stale_counts *counts;
    /* Cycles that may still be spent, and the time of the last access. */
    int64_t credit;
    uint64_t last;
    struct dh_stale_site sites[DH_STALE_SITES];
};

/* threads.c: a slot is a thread of the model. It is reused after its thread ended; with more threads than slots some
 * share one, as if one continued the other. */
struct dh_stale_slot {
    uint32_t users;
    uint32_t generation; /* of the registry, when `users` changed */
    uint32_t last;       /* last value of its own clock entry */
    struct dh_clock birth;
};
extern struct dh_stale_registry {
    dh_spin lock;
    _Atomic uint32_t generation;
    uint32_t slots;
    struct dh_stale_slot slot[DH_STALE_SLOTS_MOST];
} dh_stale_registry;

void dh_stale_threads_start(uint32_t slots);
/* Called by the only thread, before the first other is created: what memory holds then are the initial values.
 */
void dh_stale_activate(void);
/* The calling thread's loads do not skip from now on. */
static inline void dh_stale_serve_every_site(void)
{
    for (unsigned i = 0; i < DH_STALE_SITES; i++)
        __dh_thread.stale_skip[i] = 1;
}
void dh_stale_threads_forked(void);

void dh_stale_sampling_forked(void);

bool dh_stale_serve_start(void);
void dh_stale_serve_forked(void);

/* Begins a new epoch of the thread, if it wrote in this one. */
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

/* Under the lock of the object. */
void dh_stale_log(uint32_t thread, enum dh_stale_kind kind, uint64_t object, unsigned size, uint64_t value);

#endif
