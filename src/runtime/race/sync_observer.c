/* The race detector as an observer of synchronisation: happens-before edges, thread start and join, blocking, ignored
 * accesses. */
#include "runtime/sync/observer.h"

#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/threads.h"
#include "runtime/platform/bytes.h"
#include "runtime/race/internal.h"
#include "runtime/race/sync_table.h"
#include "runtime/race/thread_slots.h"

/* ---- edges ---- */

void dh_race_edge_acquire(struct dh_race_state *s, const struct dh_sync_clock *c)
{
    if (c && !dh_race_ignores(s, DH_IGNORED_SYNC))
        dh_race_acquire(&s->t, &c->clock);
}

static void release_to(struct dh_race_state *s, struct dh_sync_clock **c,
                       void (*release)(struct dh_race_thread *, struct dh_clock *))
{
    uint32_t time = s->t.time;
    if (dh_race_ignores(s, DH_IGNORED_SYNC))
        return;
    struct dh_clock *to = dh_sync_clock_reserve(c, s->t.clock.n);
    if (!to)
        return;
    release(&s->t, to);
    if (s->t.time != time)
        dh_race_new_epoch(s);
}

void dh_race_edge_release(struct dh_race_state *s, struct dh_sync_clock **c)
{
    release_to(s, c, dh_race_release);
}

void dh_race_edge_release_join(struct dh_race_state *s, struct dh_sync_clock **c)
{
    release_to(s, c, dh_race_release_join);
}

static void sync_through(const void *object, unsigned edges)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!dh_race_enter(s))
        return;
    struct dh_sync_object *o = dh_sync_object_lock((uintptr_t)object, edges != DH_EDGE_ACQUIRE);
    if (o) {
        if (edges & DH_EDGE_ACQUIRE)
            dh_race_edge_acquire(s, o->clock);
        if (edges & DH_EDGE_RELEASE)
            dh_race_edge_release(s, &o->clock);
        if (edges & DH_EDGE_RELEASE_JOIN)
            dh_race_edge_release_join(s, &o->clock);
        dh_sync_object_unlock(o);
    }
    dh_race_leave(s);
}

void dh_race_sync_edge(const void *object, enum dh_sync_class c, unsigned edges)
{
    (void)c;
    sync_through(object, edges);
}

void dh_race_forget_object(const void *object)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!dh_race_enter(s))
        return;
    dh_sync_objects_remove((uintptr_t)object, 1);
    dh_race_leave(s);
}

void dh_race_sync_forget(const void *object, enum dh_sync_class c)
{
    (void)c;
    dh_race_forget_object(object);
}

/* ---- threads ---- */

enum { LARGE_HISTORIES = 16, SMALL_HISTORIES_FROM = 256 };

/* The more threads, the smaller their histories. */
static uint64_t history_size(uint32_t index)
{
    if (dh_options.history > 0)
        return (uint64_t)dh_options.history * DH_HISTORY_PART;
    return index < LARGE_HISTORIES ? 1u << 20 : index < SMALL_HISTORIES_FROM ? 1u << 17 : 1u << 14;
}

static struct dh_race_state *new_state(struct dh_thread_state *tls, const struct dh_clock *past)
{
    struct dh_race_state *s = dh_race_state_new();
    if (!s)
        return NULL;
    s->tls = tls;
    s->index = tls->index;
    s->thread_pointer = (uintptr_t)__builtin_thread_pointer();
    s->references = 1;
    s->generation = dh_slots_generation();
    s->context_value = ~(uint64_t)0;
    dh_history_init(&s->history, history_size(s->index));
    if (past)
        dh_vclock_join(&s->t.clock, past);
    s->gate.borrowed = 1; /* none yet: entering the detector acquires one */
    return s;
}

static void attach_thread(const struct dh_clock *past)
{
    struct dh_race_state *s = new_state(&__dh_thread, past);
    if (!s)
        return;
    s->gate.busy = 1;
    __dh_thread.known = s->known;
    __atomic_store_n(&__dh_thread.race, s, __ATOMIC_RELEASE);
    if (dh_slot_acquire(s))
        dh_race_new_epoch(s);
    dh_race_leave(s);
}

void dh_race_thread_spawn(struct dh_thread_birth *birth, const struct dh_thread *created)
{
    struct dh_race_state *s = __dh_thread.race;
    (void)created;
    if (!dh_race_enter(s))
        return;
    birth->generation = s->generation;
    dh_race_edge_release(s, &birth->past);
    dh_race_leave(s);
}

void dh_race_thread_spawn_failed(struct dh_thread_birth *birth)
{
    dh_sync_clock_clear(&birth->past);
}

struct dh_race_state *dh_race_state_parked(struct dh_thread_state *tls)
{
    struct dh_thread_birth birth = {0};
    dh_race_thread_spawn(&birth, NULL);
    struct dh_race_state *s = new_state(tls, birth.past ? &birth.past->clock : NULL);
    if (s) {
        s->generation = birth.past ? birth.generation : s->generation;
        atomic_store(&s->gate.blocked, DH_RACE_BLOCKED);
    }
    dh_sync_clock_clear(&birth.past);
    return s;
}

void dh_race_state_end(struct dh_race_state *s)
{
    s->gate.busy = 1;
    dh_slot_release(s); /* if it is still its own: a thread that set `borrowed` may be about to give up */
    dh_race_state_release(s);
}

void dh_race_thread_start(struct dh_thread_birth *birth)
{
    if (!__dh_thread.race) {
        bool valid = birth->past && birth->generation == dh_slots_generation();
        attach_thread(valid ? &birth->past->clock : NULL);
        /* The stack may have been another thread's, and the runtime's part of it will be the program's. */
        dh_race_forget_memory((void *)__dh_thread.stack_low, __dh_thread.stack_high - __dh_thread.stack_low);
    }
    dh_sync_clock_clear(&birth->past);
}

/* From here on the detector ignores the calling thread. */
static void detach_thread(struct dh_race_state *s)
{
    s->gate.busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __dh_thread.own = 0;
    __dh_thread.race = NULL;
    __dh_thread.known = dh_knows_nothing;
    __dh_thread.stamp = 0;
}

void dh_race_thread_exit(void)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!s)
        return;
    dh_bytes_zero(s->ignoring, sizeof s->ignoring);
    s->gate.ignores = 0;
    dh_dead_stack_mark(s);
    const struct dh_thread *t = __dh_thread.thread;
    if (!t || !(atomic_load(&t->flags) & DH_THREAD_DETACHED))
        sync_through(dh_thread_end_object(__dh_thread.index), DH_EDGE_RELEASE);
    detach_thread(s);
    dh_race_state_end(s);
}

void dh_race_thread_joined(const struct dh_thread *t, const uintptr_t *call_slot)
{
    (void)call_slot;
    sync_through(dh_thread_end_object(t->index), DH_EDGE_ACQUIRE);
    dh_race_forget_object(dh_thread_end_object(t->index));
    dh_dead_stack_unmark(t);
}

void dh_race_blocking_begin(void)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!s || s->gate.busy)
        return;
    atomic_store(&s->gate.blocked, DH_RACE_BLOCKED);
}

void dh_race_blocking_end(void)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!s || s->gate.busy)
        return;
    if (atomic_exchange(&s->gate.blocked, DH_RACE_RUNNING) == DH_RACE_BLOCKED_BORROWED) {
        __dh_thread.own = DH_OWN_BORROWED;
        atomic_store(&s->gate.borrowed, 1);
    }
}

/* ---- ignored accesses ---- */

void dh_race_ignore_begin(enum dh_ignored what)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!s)
        return;
    s->ignoring[what]++;
    s->gate.ignores |= (uint8_t)(1 << what);
}

void dh_race_ignore_end(enum dh_ignored what)
{
    struct dh_race_state *s = __dh_thread.race;
    if (s && s->ignoring[what] && !--s->ignoring[what])
        s->gate.ignores &= (uint8_t)~(1 << what);
}

/* ---- start and fork ---- */

void dh_race_start_main(void)
{
    attach_thread(NULL);
}

void dh_race_forked(void)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!dh_race_on)
        return;
    dh_race_tables_forked();
    dh_sync_table_forked();
    dh_slots_forked(s);
    dh_fibers_forked();
    if (!s)
        return;
    if (dh_race_shadow_forked())
        s->gate.busy = 0;
    else
        detach_thread(s);
}
