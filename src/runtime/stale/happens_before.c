/* Happens-before of a freely running program: vector clocks released to and acquired from synchronisation objects. The
 * C11 rules of atomics are those of race/atomic_edges.c. */
#include "runtime/stale/state.h"

#include "event/site.h"
#include "runtime/race/sync_table.h"
#include "runtime/sync/observer.h"

#define ALL_FENCES ((uintptr_t)1) /* no object's address: a seq_cst fence acquires earlier ones */

/* A signal handler during an access may synchronise; during an operation on the table it may not. */
static bool enter(struct dh_stale_thread *t, uint8_t *before)
{
    if (!t || t->busy == DH_STALE_ORDERS || __dh_stale_over)
        return false;
    *before = t->busy;
    t->busy = DH_STALE_ORDERS;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

static void leave(struct dh_stale_thread *t, uint8_t before)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = before;
}

static void acquire(struct dh_stale_thread *t, const struct dh_sync_object *o)
{
    dh_stale_log(t->index, DH_STALE_LOG_ACQUIRE, o->addr, 0, 0);
    if (o->clock)
        dh_vclock_join(&t->clock, &o->clock->clock);
}

static void release(struct dh_stale_thread *t, struct dh_sync_object *o)
{
    struct dh_clock *to = dh_sync_clock_reserve(&o->clock, t->clock.n);
    dh_stale_log(t->index, DH_STALE_LOG_RELEASE, o->addr, 0, 0);
    if (to)
        dh_vclock_join(to, &t->clock);
    dh_stale_tick(t);
}

void dh_stale_hb_edge(const void *object, unsigned edges)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    uint8_t before;
    if (!enter(t, &before))
        return;
    dh_stale_count(&t->counts->syncs, 1);
    struct dh_sync_object *o = dh_sync_object_lock((uintptr_t)object, edges & DH_STALE_RELEASE);
    if (o) {
        if (edges & DH_STALE_ACQUIRE)
            acquire(t, o);
        if (edges & DH_STALE_RELEASE)
            release(t, o);
        dh_sync_object_unlock_unchanged(o);
    }
    leave(t, before);
}

void dh_stale_forget_object(const void *object)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    uint8_t before;
    if (!enter(t, &before))
        return;
    dh_sync_objects_remove((uintptr_t)object, 1);
    leave(t, before);
}

/* ---- atomics at other places ---- */

void dh_stale_atomic_enter(struct dh_atomic_op *op)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    uint8_t before;
    if (!enter(t, &before))
        return;
    dh_stale_count(&t->counts->syncs, 1);
    op->object = dh_sync_object_lock(op->addr, true);
    op->before = before;
    if (!op->object)
        leave(t, before);
}

static void load_edges(struct dh_stale_thread *t, const struct dh_sync_object *o, unsigned order)
{
    if (dh_order_acquires(order))
        acquire(t, o);
    else if (order != DH_ORDER_NONE && o->clock) {
        dh_stale_log(t->index, DH_STALE_LOG_READ, o->addr, 0, 0);
        dh_fences_load(&t->fences, o);
    }
}

static void store_edges(struct dh_stale_thread *t, struct dh_sync_object *o, unsigned order, bool rmw)
{
    if (!rmw) {
        dh_stale_log(t->index, DH_STALE_LOG_CLEAR, o->addr, 0, 0);
        dh_sync_clock_clear(&o->clock);
    }
    if (dh_order_releases(order)) {
        release(t, o);
        return;
    }
    dh_stale_log(t->index, DH_STALE_LOG_WRITE, o->addr, 0, 0);
    dh_fences_store(&t->fences, o);
}

void dh_stale_atomic_leave(struct dh_atomic_op *op, bool wrote)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    struct dh_sync_object *o = op->object;
    unsigned what = op->what & 255, order = op->what >> 8 & 255;
    if (!o)
        return;
    if (what != DH_OP_ATOMIC_STORE)
        load_edges(t, o, order);
    if (wrote)
        store_edges(t, o, order, what != DH_OP_ATOMIC_STORE);
    dh_sync_object_unlock_unchanged(o);
    leave(t, op->before);
}

void dh_stale_fence(uint32_t order)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    uint8_t before;
    if (!enter(t, &before))
        return;
    if (dh_order_acquires(order) && t->fences.has_acquire) {
        dh_stale_log(t->index, DH_STALE_LOG_FENCE_ACQUIRE, 0, 0, 0);
        dh_fences_acquire(&t->fences, &t->clock);
    }
    if (dh_order_releases(order)) {
        dh_stale_log(t->index, DH_STALE_LOG_FENCE_RELEASE, 0, 0, 0);
        dh_vclock_copy(&t->fences.release, &t->clock);
        t->fences.has_release = true;
        dh_stale_tick(t);
    }
    leave(t, before);
    if (order == DH_ORDER_SEQ_CST)
        dh_stale_hb_edge((const void *)ALL_FENCES, DH_STALE_ACQUIRE | DH_STALE_RELEASE);
}
