#include "event/happens_before.h"

/* ---- clocks ---- */

bool dh_hb_clock_widen(struct dh_hb_memory *m, struct dh_hb_clock *c, uint32_t n)
{
    if (n > c->room && !(m && m->grow(m, c, n)))
        return false;
    dh_vclock_widen(c, n);
    return true;
}

void dh_hb_clock_join(struct dh_hb_memory *m, struct dh_hb_clock *to, const struct dh_hb_clock *from)
{
    if (dh_hb_clock_widen(m, to, from->n))
        dh_vclock_join(to, from);
}

void dh_hb_clock_copy(struct dh_hb_memory *m, struct dh_hb_clock *to, const struct dh_hb_clock *from)
{
    dh_vclock_clear(to);
    dh_hb_clock_join(m, to, from);
}

/* ---- threads ---- */

bool dh_hb_thread_init(struct dh_hb_memory *m, struct dh_hb_thread *t, uint32_t slot, uint32_t epoch)
{
    t->slot = slot;
    t->has_release_fence = false;
    dh_vclock_clear(&t->clock);
    dh_vclock_clear(&t->release_fence);
    dh_vclock_clear(&t->acquire_fence);
    if (!dh_hb_clock_widen(m, &t->clock, slot + 1))
        return false;
    t->clock.at[slot] = epoch;
    return true;
}

void dh_hb_fork(struct dh_hb_memory *m, struct dh_hb_thread *parent, struct dh_hb_thread *child)
{
    dh_hb_clock_join(m, &child->clock, &parent->clock);
    dh_hb_tick(parent);
}

void dh_hb_join(struct dh_hb_memory *m, struct dh_hb_thread *t, const struct dh_hb_thread *ended)
{
    dh_hb_clock_join(m, &t->clock, &ended->clock);
}

/* ---- objects ---- */

void dh_hb_acquire(struct dh_hb_memory *m, struct dh_hb_thread *t, const struct dh_hb_clock *from)
{
    dh_hb_clock_join(m, &t->clock, from);
}

void dh_hb_release(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_clock *to)
{
    dh_hb_clock_copy(m, to, &t->clock);
    dh_hb_tick(t);
}

void dh_hb_release_join(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_clock *to)
{
    dh_hb_clock_join(m, to, &t->clock);
    dh_hb_tick(t);
}

void dh_hb_acquire_release(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_clock *c)
{
    dh_hb_acquire(m, t, c);
    dh_hb_release_join(m, t, c);
}

void dh_hb_lock(struct dh_hb_memory *m, struct dh_hb_thread *t, const struct dh_hb_object *lock, bool shared)
{
    dh_hb_acquire(m, t, &lock->clock);
    if (!shared)
        dh_hb_acquire(m, t, &lock->readers);
}

void dh_hb_unlock(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_object *lock, bool shared)
{
    if (shared) {
        dh_hb_release_join(m, t, &lock->readers);
        return;
    }
    dh_hb_release(m, t, &lock->clock);
    dh_vclock_clear(&lock->readers); /* the thread knows them since it locked: they are in `clock` */
}

void dh_hb_unlock_unowned(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_object *lock, bool shared)
{
    dh_hb_release_join(m, t, shared ? &lock->readers : &lock->clock);
}

/* ---- atomics ---- */

void dh_hb_load(struct dh_hb_memory *m, struct dh_hb_thread *t, const struct dh_hb_clock *message, enum dh_order order)
{
    if (order != DH_ORDER_NONE)
        dh_hb_clock_join(m, dh_order_acquires(order) ? &t->clock : &t->acquire_fence, message);
}

bool dh_hb_store(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_clock *message, enum dh_order order)
{
    dh_vclock_clear(message);
    return dh_hb_update(m, t, message, order);
}

bool dh_hb_update(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_clock *message, enum dh_order order)
{
    if (dh_order_releases(order)) {
        dh_hb_release_join(m, t, message);
        return true;
    }
    if (order == DH_ORDER_NONE || !t->has_release_fence)
        return false;
    dh_hb_clock_join(m, message, &t->release_fence);
    return true;
}

void dh_hb_fence(struct dh_hb_memory *m, struct dh_hb_thread *t, enum dh_order order)
{
    if (dh_order_acquires(order)) {
        dh_hb_acquire(m, t, &t->acquire_fence);
        dh_vclock_clear(&t->acquire_fence);
    }
    if (dh_order_releases(order)) {
        dh_hb_release(m, t, &t->release_fence);
        t->has_release_fence = true;
    }
}
