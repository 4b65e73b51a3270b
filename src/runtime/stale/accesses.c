/* Plain loads and stores at chosen places, cache line by cache line. */
#include "runtime/stale/shard.h"

/* The next load is not skipped, unless nothing is served any more. */
static void serve_next(uint32_t place)
{
    __dh_thread.stale_skip[place % DH_STALE_SITES] = dh_stale_on && !__dh_stale_over;
}

static bool enter(struct dh_stale_thread *t)
{
    if (!dh_stale_on || !t || t->busy)
        return false;
    t->busy = DH_STALE_ACCESSES;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

static void leave(struct dh_stale_thread *t)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = DH_STALE_IDLE;
}

static unsigned in_line(uint64_t at, size_t size)
{
    size_t room = DH_STALE_LINE - at % DH_STALE_LINE;
    return (unsigned)(size < room ? size : room);
}

static void touch_to_write(uint64_t at, size_t size)
{
    __atomic_fetch_or((char *)(uintptr_t)at, 0, __ATOMIC_RELAXED);
    if (at / DH_STALE_LINE != (at + size - 1) / DH_STALE_LINE)
        __atomic_fetch_or((char *)(uintptr_t)(at + size - 1), 0, __ATOMIC_RELAXED);
}

void dh_stale_load(const void *addr, void *value, size_t size, uint32_t what, uint32_t place)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    uint64_t at = (uint64_t)(uintptr_t)addr, end = at + size;
    if (!size)
        return;
    dh_stale_touch(at, size);
    serve_next(place);
    if (dh_stale_is_unsampled(at, what) || !enter(t)) {
        dh_stale_get(value, at, size);
        return;
    }
    uint64_t began = dh_stale_budget_begin(t, what);
    for (unsigned n; at < end; at += n) {
        n = in_line(at, end - at);
        struct dh_stale_line_access k = {t, at, n, what, place};
        struct dh_engine_stale_read read = {0};
        struct dh_stale_shard *s = dh_stale_lock_shard(at);
        dh_stale_load_line(s, &k, (char *)value + (at - (uint64_t)(uintptr_t)addr), &read);
        dh_stale_unlock_shard(s);
    }
    dh_stale_budget_charge(t, began);
    dh_stale_budget_skip_loads(t, place);
    leave(t);
}

/* The store has no epoch: older values are forgotten. */
static void store_unordered(uint64_t at, const void *value, size_t size)
{
    dh_stale_put(at, value, size);
    if (dh_stale_on)
        dh_stale_forget((const void *)(uintptr_t)at, size);
}

void dh_stale_store(void *addr, const void *value, size_t size, uint32_t what, uint32_t place)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    uint64_t at = (uint64_t)(uintptr_t)addr, end = at + size;
    if (!size)
        return;
    if (dh_stale_is_unsampled(at, what)) {
        dh_stale_put(at, value, size);
        return;
    }
    touch_to_write(at, size);
    if (!enter(t)) {
        store_unordered(at, value, size);
        return;
    }
    uint64_t began = dh_stale_budget_begin(t, what);
    for (unsigned n; at < end; at += n) {
        n = in_line(at, end - at);
        const char *from = (const char *)value + (at - (uint64_t)(uintptr_t)addr);
        struct dh_stale_line_access k = {t, at, n, what, place};
        struct dh_stale_shard *s = dh_stale_lock_shard(at);
        dh_stale_store_line(s, &k, from);
        dh_stale_put(at, from, n);
        dh_stale_unlock_shard(s);
    }
    dh_stale_budget_charge(t, began);
    dh_stale_budget_reduce(t, what);
    leave(t);
}
