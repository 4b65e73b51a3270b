/* The recorder as an observer of synchronisation: each event becomes one of the stream. */
#include "runtime/record/state.h"
#include "runtime/sync/observer.h"

#include "runtime/core/threads.h"

/* ---- locks ---- */

static struct dh_held_lock *find_held(struct dh_record_state *s, uintptr_t lock)
{
    return dh_held_lock_find(s->held, s->n_held, lock);
}

static unsigned flags_of(unsigned mode)
{
    return (mode & DH_LOCK_SHARED ? DH_EVENT_SHARED : 0) | (mode & DH_LOCK_TRY ? DH_EVENT_TRY : 0) |
           (mode & DH_LOCK_BY_WAIT ? DH_EVENT_WAIT : 0) | (mode & DH_LOCK_TIMED ? DH_EVENT_TIMED : 0);
}

void dh_record_lock_acquired(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    struct dh_record_state *s = __dh_thread.record;
    struct dh_held_lock *held = find_held(s, (uintptr_t)lock);
    if (held)
        held->depth++;
    else if (s->n_held == DH_HELD_LOCKS)
        s->n_unlisted++;
    else
        s->held[s->n_held++] = (struct dh_held_lock){(uintptr_t)lock, 0, 1, mode & DH_LOCK_SHARED};
    dh_record_event(DH_EVENT_LOCK, flags_of(mode) | (held ? DH_EVENT_AGAIN : 0), lock, 0, call_slot);
}

void dh_record_lock_released(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    struct dh_record_state *s = __dh_thread.record;
    struct dh_held_lock *held = find_held(s, (uintptr_t)lock);
    unsigned flags = flags_of(mode);
    if (held) {
        flags |= (held->shared ? DH_EVENT_SHARED : 0) | (held->depth > 1 ? DH_EVENT_AGAIN : 0);
        if (!--held->depth)
            *held = s->held[--s->n_held];
    } else if (s->n_unlisted) {
        s->n_unlisted--;
    } else {
        flags |= DH_EVENT_FOREIGN;
    }
    dh_record_event(DH_EVENT_UNLOCK, flags, lock, 0, call_slot);
}

unsigned dh_record_lock_held(const void *lock, bool *unlisted)
{
    struct dh_record_state *s = __dh_thread.record;
    struct dh_held_lock *held = find_held(s, (uintptr_t)lock);
    *unlisted = s->n_unlisted;
    return held ? held->depth : 0;
}

void dh_record_lock_wait(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    dh_record_event(DH_EVENT_LOCK_WAIT, flags_of(mode & (DH_LOCK_SHARED | DH_LOCK_TIMED)), lock, 0, call_slot);
}

void dh_record_lock_init(const void *lock, const uintptr_t *call_slot)
{
    dh_record_event(DH_EVENT_LOCK_INIT, 0, lock, 0, call_slot);
}

void dh_record_lock_destroyed(const void *lock, const uintptr_t *call_slot)
{
    dh_record_event(DH_EVENT_LOCK_DESTROY, dh_lock_held(lock) ? DH_EVENT_FOREIGN : 0, lock, 0, call_slot);
}

void dh_record_lock_destroy_failed(const void *lock, const uintptr_t *call_slot)
{
    dh_record_event(DH_EVENT_LOCK_DESTROY, DH_EVENT_FOREIGN, lock, 0, call_slot);
}

/* ---- condition variables ---- */

void dh_record_condition_wait(const void *condition, const void *mutex, unsigned mode, const uintptr_t *call_slot)
{
    dh_record_event(DH_EVENT_COND_WAIT, mode & DH_LOCK_TIMED ? DH_EVENT_TIMED : 0, condition, (uintptr_t)mutex,
                    call_slot);
}

void dh_record_condition_woken(const void *condition, const void *mutex, bool timed, const uintptr_t *call_slot)
{
    dh_record_event(DH_EVENT_COND_WOKEN, timed ? DH_EVENT_TIMED : 0, condition, (uintptr_t)mutex, call_slot);
}

void dh_record_condition_signal(const void *condition, bool all, const uintptr_t *call_slot)
{
    dh_record_event(all ? DH_EVENT_COND_BROADCAST : DH_EVENT_COND_SIGNAL, 0, condition, 0, call_slot);
}

/* ---- other objects ---- */

/* What the caller did or got has its place in the order of events now. */
void dh_record_sync_edge(const void *object, enum dh_sync_class c, unsigned edges)
{
    enum dh_event_kind kind = edges == DH_EDGE_ACQUIRE        ? DH_EVENT_ACQUIRE
                              : edges == DH_EDGE_RELEASE      ? DH_EVENT_RELEASE
                              : edges == DH_EDGE_RELEASE_JOIN ? DH_EVENT_RELEASE_JOIN
                                                              : DH_EVENT_ACQUIRE_RELEASE;
    dh_record_event(kind, 0, object, c, NULL);
}

void dh_record_sync_forget(const void *object, enum dh_sync_class c)
{
    dh_record_event(DH_EVENT_FORGET, 0, object, c, NULL);
}

void dh_record_sync_block(const void *object, enum dh_sync_class c, unsigned flags, uintptr_t watched,
                          const uintptr_t *call_slot)
{
    (void)watched;
    dh_record_event(DH_EVENT_BLOCK, flags, object, c, call_slot);
}

void dh_record_sync_unblock(const void *object, enum dh_sync_class c, const uintptr_t *call_slot)
{
    dh_record_event(DH_EVENT_UNBLOCK, 0, object, c, call_slot);
}

void dh_record_atomic_fence(uint32_t order)
{
    dh_record_event(DH_EVENT_FENCE, 0, NULL, order, NULL);
}

/* ---- threads ---- */

void dh_record_thread_spawn(struct dh_thread_birth *birth, const struct dh_thread *created)
{
    (void)birth;
    dh_record_thread_created(created);
}

void dh_record_fiber_created(const struct dh_thread *created)
{
    dh_record_thread_created(created);
}

void dh_record_thread_joined(const struct dh_thread *t, const uintptr_t *call_slot)
{
    dh_record_event(DH_EVENT_THREAD_JOIN, 0, NULL, t->index, call_slot);
}

void dh_record_thread_detached(const struct dh_thread *t)
{
    dh_record_event(DH_EVENT_THREAD_DETACH, 0, NULL, t->index, NULL);
}

/* ---- memory ---- */

void dh_record_memory_allocated(const void *at, size_t size, const uintptr_t *call_slot)
{
    if (at)
        dh_record_allocated(at, size, DH_MEMORY_HEAP, call_slot);
}

void dh_record_memory_freed(const void *at, const uintptr_t *call_slot)
{
    if (at)
        dh_record_freed(at, 0, DH_MEMORY_HEAP, call_slot);
}

void dh_record_memory_mapped(const void *at, size_t size, enum dh_event_region region)
{
    if (size)
        dh_record_allocated(at, size, region, NULL);
}

void dh_record_memory_unmapped(const void *at, size_t size)
{
    if (size)
        dh_record_freed(at, size, DH_MEMORY_MAPPED, NULL);
}

/* ---- scopes, modules ---- */

void dh_record_scope_entered(uint32_t token, const void *object, uint32_t place)
{
    (void)token;
    dh_record_scope(DH_EVENT_ENTER, object, place);
}

void dh_record_scope_left(uint32_t token, uint32_t open)
{
    for (; open > token && __dh_thread.record; open--)
        dh_record_scope(DH_EVENT_LEAVE, NULL, DH_NO_PLACE);
}

void dh_record_modules_changed(void)
{
    dh_record_modules();
}
