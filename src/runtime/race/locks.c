/* Locks: the order they make, and which ones a thread holds. */
#include "runtime/core/sync.h"
#include "runtime/race/internal.h"

#include "runtime/atomrace/atomrace.h"
#include "runtime/consistency/scopes.h"
#include "runtime/core/context.h"
#include "runtime/deadlock/blocked.h"
#include "runtime/record/record.h"
#include "runtime/stale/stale.h"

static struct dh_held_lock *find_held(struct dh_race_state *s, uintptr_t lock)
{
    for (uint32_t i = s->n_held; i-- > 0;)
        if (s->held[i].lock == lock)
            return &s->held[i];
    return NULL;
}

static void note_taken(struct dh_race_state *s, const struct dh_held_lock *l)
{
    if (!dh_race_history_room(s, 2))
        return;
    dh_history_add(&s->history, dh_history_meta(DH_META_LOCK_CONTEXT, l->context));
    dh_history_add(&s->history, dh_history_meta(DH_META_TAKEN, l->lock | l->shared));
}

static void note_given(struct dh_race_state *s, uintptr_t lock)
{
    if (dh_race_history_room(s, 1))
        dh_history_add(&s->history, dh_history_meta(DH_META_GIVEN, lock));
}

static void hold(struct dh_race_state *s, uintptr_t lock, bool shared, const uintptr_t *call_slot)
{
    if (s->n_held == DH_HELD_LOCKS) {
        s->n_unlisted++;
        return;
    }
    struct dh_held_lock *l = &s->held[s->n_held];
    *l = (struct dh_held_lock){lock, dh_race_call_context(s, call_slot), 1, shared};
    note_taken(s, l);
    s->n_held++; /* after: a new part of the history says what was held before */
}

static void let_go(struct dh_race_state *s, struct dh_held_lock *l)
{
    uintptr_t lock = l->lock;
    for (; l + 1 < s->held + s->n_held; l++)
        l[0] = l[1];
    s->n_held--;
    note_given(s, lock);
}

void dh_lock_waits(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    unsigned flags = (mode & DH_LOCK_SHARED ? DH_EVENT_SHARED : 0) | (mode & DH_LOCK_TIMED ? DH_EVENT_TIMED : 0);
    DH_RECORDED(dh_record_event(DH_EVENT_LOCK_WAIT, flags, lock, 0, call_slot));
}

void dh_lock_taken(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    struct dh_race_state *s = __dh_thread.race;
    DH_RECORDED(dh_record_taken(lock, mode, call_slot));
    DH_BLOCKED(dh_blocked_note_taken(lock, mode & DH_LOCK_SHARED, call_slot));
    dh_atom_pass(DH_PASS_LOCK);
    DH_UNITS(dh_units_lock_taken(lock));
    DH_STALE(dh_stale_order(lock, DH_STALE_IN));
    if (!dh_race_enter(s))
        return;
    struct dh_held_lock *held = find_held(s, (uintptr_t)lock);
    if (held) {
        held->depth++;
    } else {
        struct dh_sync *o = dh_sync_lock((uintptr_t)lock, false);
        if (o) {
            dh_edge_in(s, o->clock);
            if (!(mode & DH_LOCK_SHARED))
                dh_edge_in(s, o->readers);
            dh_sync_unlock(o);
        }
        hold(s, (uintptr_t)lock, mode & DH_LOCK_SHARED, call_slot);
    }
    dh_race_leave(s);
}

static void release(struct dh_race_state *s, uintptr_t lock, bool owner, bool shared)
{
    struct dh_sync *o = dh_sync_lock(lock, true);
    if (!o)
        return;
    o->is_lock = true;
    if (shared) {
        dh_edge_out_join(s, &o->readers);
    } else if (owner) {
        dh_edge_out(s, &o->clock);
        dh_sync_clock_clear(&o->readers); /* known to us, so they are in `clock` */
    } else {
        dh_edge_out_join(s, &o->clock);
    }
    dh_sync_unlock(o);
}

void dh_lock_given(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    struct dh_race_state *s = __dh_thread.race;
    DH_RECORDED(dh_record_given(lock, mode, call_slot));
    DH_BLOCKED(dh_blocked_note_given(lock));
    dh_atom_pass(DH_PASS_UNLOCK);
    DH_UNITS(dh_units_lock_given(lock));
    DH_STALE(dh_stale_order(lock, DH_STALE_OUT));
    if (!dh_race_enter(s))
        return;
    struct dh_held_lock *held = find_held(s, (uintptr_t)lock);
    if (!held || !--held->depth) {
        bool owner = held, shared = held && held->shared;
        if (held)
            let_go(s, held);
        else if (s->n_unlisted)
            s->n_unlisted--;
        release(s, (uintptr_t)lock, owner, shared);
    }
    dh_race_leave(s);
}

void dh_lock_destroyed(const void *lock, const uintptr_t *call_slot)
{
    DH_RECORDED(dh_record_event(DH_EVENT_LOCK_DESTROY, dh_lock_held(lock) ? DH_EVENT_FOREIGN : 0, lock, 0, call_slot));
    dh_race_forget_object(lock);
}

void dh_lock_not_destroyed(const void *lock, const uintptr_t *call_slot)
{
    DH_RECORDED(dh_record_event(DH_EVENT_LOCK_DESTROY, DH_EVENT_FOREIGN, lock, 0, call_slot));
}

void dh_lock_begins(const void *lock, const uintptr_t *call_slot)
{
    DH_RECORDED(dh_record_event(DH_EVENT_LOCK_INIT, 0, lock, 0, call_slot));
    dh_race_forget_object(lock);
}

bool dh_lock_may_be_held(const void *lock)
{
    bool unlisted = false;
    if (!__dh_thread.race && !__dh_thread.record)
        return true; /* nobody counts */
    return dh_record_held(lock, &unlisted) || unlisted || dh_lock_held(lock) ||
           (__dh_thread.race && __dh_thread.race->n_unlisted);
}

unsigned dh_lock_held(const void *lock)
{
    struct dh_race_state *s = __dh_thread.race;
    struct dh_held_lock *held = s ? find_held(s, (uintptr_t)lock) : NULL;
    bool unlisted;
    return s ? held ? held->depth : 0 : dh_record_held(lock, &unlisted);
}

/* ---- condition variables ---- */

void dh_condition_wait(const void *condition, const void *mutex, bool timed, const uintptr_t *call_slot)
{
    DH_RECORDED(
        dh_record_event(DH_EVENT_COND_WAIT, timed ? DH_EVENT_TIMED : 0, condition, (uintptr_t)mutex, call_slot));
}

void dh_condition_woken(const void *condition, const void *mutex, bool timed, const uintptr_t *call_slot)
{
    DH_RECORDED(
        dh_record_event(DH_EVENT_COND_WOKEN, timed ? DH_EVENT_TIMED : 0, condition, (uintptr_t)mutex, call_slot));
}

void dh_condition_signal(const void *condition, bool all, const uintptr_t *call_slot)
{
    DH_BLOCKED(dh_blocked_note_signal(condition, all, call_slot));
    DH_RECORDED(dh_record_event(all ? DH_EVENT_COND_BROADCAST : DH_EVENT_COND_SIGNAL, 0, condition, 0, call_slot));
}
