/* The race detector as an observer of locks: happens-before edges from release to acquire, and the locks that a thread
 * holds. */
#include "runtime/race/internal.h"
#include "runtime/sync/observer.h"

static struct dh_held_lock *find_held(struct dh_race_state *s, uintptr_t lock)
{
    return dh_held_lock_find(s->held, s->n_held, lock);
}

static void record_acquired(struct dh_race_state *s, const struct dh_held_lock *l)
{
    if (!dh_race_history_room(s, 2))
        return;
    dh_history_add(&s->history, dh_history_meta(DH_META_LOCK_CONTEXT, l->context));
    dh_history_add(&s->history, dh_history_meta(DH_META_ACQUIRED, l->lock | l->shared));
}

static void record_released(struct dh_race_state *s, uintptr_t lock)
{
    if (dh_race_history_room(s, 1))
        dh_history_add(&s->history, dh_history_meta(DH_META_RELEASED, lock));
}

static void add_held(struct dh_race_state *s, uintptr_t lock, bool shared, const uintptr_t *call_slot)
{
    if (s->n_held == DH_HELD_LOCKS) {
        s->n_unlisted++;
        return;
    }
    struct dh_held_lock *l = &s->held[s->n_held];
    *l = (struct dh_held_lock){lock, dh_race_call_context(s, call_slot), 1, shared};
    record_acquired(s, l);
    s->n_held++; /* after: a new part of the history begins with what was held before */
}

static void remove_held(struct dh_race_state *s, struct dh_held_lock *l)
{
    uintptr_t lock = l->lock;
    for (; l + 1 < s->held + s->n_held; l++)
        l[0] = l[1];
    s->n_held--;
    record_released(s, lock);
}

void dh_race_lock_acquired(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!dh_race_enter(s))
        return;
    struct dh_held_lock *held = find_held(s, (uintptr_t)lock);
    if (held) {
        held->depth++;
    } else {
        struct dh_sync_object *o = dh_sync_object_lock((uintptr_t)lock, false);
        if (o) {
            dh_race_edge_acquire(s, o->clock);
            if (!(mode & DH_LOCK_SHARED))
                dh_race_edge_acquire(s, o->readers);
            dh_sync_object_unlock(o);
        }
        add_held(s, (uintptr_t)lock, mode & DH_LOCK_SHARED, call_slot);
    }
    dh_race_leave(s);
}

static void release(struct dh_race_state *s, uintptr_t lock, bool owner, bool shared)
{
    struct dh_sync_object *o = dh_sync_object_lock(lock, true);
    if (!o)
        return;
    o->is_lock = true;
    if (shared) {
        dh_race_edge_release_join(s, &o->readers);
    } else if (owner) {
        dh_race_edge_release(s, &o->clock);
        dh_sync_clock_clear(&o->readers); /* acquired by this thread, so they are in `clock` */
    } else {
        dh_race_edge_release_join(s, &o->clock);
    }
    dh_sync_object_unlock(o);
}

void dh_race_lock_released(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    struct dh_race_state *s = __dh_thread.race;
    (void)mode, (void)call_slot;
    if (!dh_race_enter(s))
        return;
    struct dh_held_lock *held = find_held(s, (uintptr_t)lock);
    if (!held || !--held->depth) {
        bool owner = held, shared = held && held->shared;
        if (held)
            remove_held(s, held);
        else if (s->n_unlisted)
            s->n_unlisted--;
        release(s, (uintptr_t)lock, owner, shared);
    }
    dh_race_leave(s);
}

void dh_race_lock_destroyed(const void *lock, const uintptr_t *call_slot)
{
    (void)call_slot;
    dh_race_forget_object(lock);
}

void dh_race_lock_init(const void *lock, const uintptr_t *call_slot)
{
    (void)call_slot;
    dh_race_forget_object(lock);
}

unsigned dh_race_lock_held(const void *lock, bool *unlisted)
{
    struct dh_race_state *s = __dh_thread.race;
    struct dh_held_lock *held = find_held(s, (uintptr_t)lock);
    *unlisted = s->n_unlisted;
    return held ? held->depth : 0;
}
