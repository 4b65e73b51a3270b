/* Shards of adversarial memory: each has the model of the locations of some cache lines, and a lock under which a store
 * is entered into the model and made. So memory always holds the newest value, for code that is not instrumented.
 * Layer: runtime. */
#ifndef DH_RUNTIME_STALE_SHARD_H
#define DH_RUNTIME_STALE_SHARD_H

#include "event/hooks.h"
#include "memory/hb.h"
#include "runtime/platform/bytes.h"
#include "runtime/stale/state.h"

enum { DH_STALE_LINE = 64, DH_STALE_WORD = 8 };

struct dh_stale_granule;

struct dh_stale_shard {
    dh_spin lock;
    struct dh_memory memory;
    void *model;
    struct dh_picker *picker;
    uint32_t generation; /* of the registry of threads, when last read */
    uint64_t nobody;     /* a location without accesses */
    uint64_t removed;    /* values removed, as last counted */
    struct dh_stale_granule *known;
    uint32_t n_known;
    struct dh_candidate candidates[DH_MEMORY_CANDIDATES];
};

/* An access to bytes of one cache line. */
struct dh_stale_line_access {
    struct dh_stale_thread *t;
    uint64_t at;
    unsigned size;
    uint32_t what, place;
};

/* shards.c */
struct dh_stale_shard *dh_stale_lock_shard(uint64_t address);
void dh_stale_unlock_shard(struct dh_stale_shard *s);
void dh_stale_mark_line(uint64_t address);
/* Counts an access to a granule; true: only that thread stores to it. */
bool dh_stale_granule_access(struct dh_stale_shard *s, uint64_t at, uint32_t thread, unsigned stores, unsigned most);

/* line_accesses.c, under the lock. A store enters the model before memory: the model compares what memory holds with
 * its newest value. */
void dh_stale_load_line(struct dh_stale_shard *s, const struct dh_stale_line_access *k, void *value,
                        struct dh_engine_stale_read *read);
void dh_stale_store_line(struct dh_stale_shard *s, const struct dh_stale_line_access *k, const void *value);

/* overhead_budget.c */
uint64_t dh_stale_budget_begin(struct dh_stale_thread *t, uint32_t what);
void dh_stale_budget_charge(struct dh_stale_thread *t, uint64_t began);
void dh_stale_budget_skip_loads(struct dh_stale_thread *t, uint32_t place);
void dh_stale_budget_reduce(struct dh_stale_thread *t, uint32_t what);

static inline bool dh_stale_is_unsampled(uint64_t at, uint32_t what)
{
    return __atomic_load_n(&__dh_stale_over, __ATOMIC_RELAXED) ||
           (what & DH_STALE_ELEMENT && (at & __atomic_load_n(&__dh_stale_mask, __ATOMIC_RELAXED)) !=
                                           __atomic_load_n(&__dh_stale_want, __ATOMIC_RELAXED));
}

/* A bad address faults here, where nothing is locked. */
static inline void dh_stale_touch(uint64_t at, size_t size)
{
    (void)*(const volatile char *)(uintptr_t)at;
    (void)*(const volatile char *)(uintptr_t)(at + size - 1);
}

static inline uint64_t dh_stale_peek(uint64_t address, unsigned size)
{
    const volatile void *at = (const volatile void *)(uintptr_t)address;
    return size == 8   ? *(const volatile uint64_t *)at
           : size == 4 ? *(const volatile uint32_t *)at
           : size == 2 ? *(const volatile uint16_t *)at
                       : *(const volatile uint8_t *)at;
}

static inline void dh_stale_put(uintptr_t at, const void *value, size_t size)
{
    if (size == 8 && !(at & 7))
        __atomic_store_n((uint64_t *)at, *(const uint64_t *)value, __ATOMIC_RELEASE);
    else if (size == 4 && !(at & 3))
        __atomic_store_n((uint32_t *)at, *(const uint32_t *)value, __ATOMIC_RELEASE);
    else if (size == 2 && !(at & 1))
        __atomic_store_n((uint16_t *)at, *(const uint16_t *)value, __ATOMIC_RELEASE);
    else
        dh_bytes_copy((void *)at, value, size);
}

static inline void dh_stale_get(void *value, uintptr_t at, size_t size)
{
    if (size == 8 && !(at & 7))
        *(uint64_t *)value = __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
    else if (size == 4 && !(at & 3))
        *(uint32_t *)value = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
    else if (size == 2 && !(at & 1))
        *(uint16_t *)value = __atomic_load_n((const uint16_t *)at, __ATOMIC_ACQUIRE);
    else
        dh_bytes_copy(value, (const void *)at, size);
}

#endif
