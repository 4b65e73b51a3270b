/* Happens-before edges, threads, and being left alone. */
#include "runtime/core/sync.h"

#include "runtime/atomrace/atomrace.h"
#include "runtime/consistency/scopes.h"
#include "runtime/core/alloc.h"
#include "runtime/core/bytes.h"
#include "runtime/core/options.h"
#include "runtime/core/threads.h"
#include "runtime/race/internal.h"
#include "runtime/race/shadow.h"
#include "runtime/race/sync_table.h"
#include "runtime/race/thread_slots.h"
#include "runtime/record/record.h"
#include "runtime/stale/stale.h"

/* ---- edges ---- */

void dh_edge_in(struct dh_race_state *s, const struct dh_sync_clock *c)
{
    if (c && !dh_race_ignores(s, DH_IGNORED_SYNC))
        dh_race_acquire(&s->t, &c->clock);
}

static void publish(struct dh_race_state *s, struct dh_sync_clock **c,
                    void (*release)(struct dh_race_thread *, struct dh_clock *))
{
    uint32_t time = s->t.time;
    if (dh_race_ignores(s, DH_IGNORED_SYNC))
        return;
    struct dh_clock *to = dh_sync_clock_for(c, s->t.clock.n);
    if (!to)
        return;
    release(&s->t, to);
    if (s->t.time != time)
        dh_race_new_epoch(s);
}

void dh_edge_out(struct dh_race_state *s, struct dh_sync_clock **c)
{
    publish(s, c, dh_race_release);
}

void dh_edge_out_join(struct dh_race_state *s, struct dh_sync_clock **c)
{
    publish(s, c, dh_race_release_join);
}

enum edge { IN = 1, OUT = 2, OUT_JOIN = 4 };

static void through(const void *object, unsigned edges)
{
    struct dh_race_state *s = __dh_thread.race;
    dh_atom_pass(DH_PASS_OTHER);
    if (edges & (OUT | OUT_JOIN))
        dh_units_release();
    if (edges & IN)
        dh_units_acquired();
    DH_STALE(dh_stale_order(object, (edges & IN ? DH_STALE_IN : 0u) | (edges & (OUT | OUT_JOIN) ? DH_STALE_OUT : 0u)));
    if (!dh_race_enter(s))
        return;
    struct dh_sync *o = dh_sync_lock((uintptr_t)object, edges != IN);
    if (o) {
        if (edges & IN)
            dh_edge_in(s, o->clock);
        if (edges & OUT)
            dh_edge_out(s, &o->clock);
        if (edges & OUT_JOIN)
            dh_edge_out_join(s, &o->clock);
        dh_sync_unlock(o);
    }
    dh_race_leave(s);
}

/* What the caller did or got has its place in the order of events now. */
static void order(const void *object, unsigned edges, enum dh_event_kind kind, enum dh_sync_class c)
{
    dh_record_event(kind, 0, object, c, NULL);
    through(object, edges);
}

void dh_sync_acquire(const void *object, enum dh_sync_class c)
{
    order(object, IN, DH_EVENT_ACQUIRE, c);
}

void dh_sync_release(const void *object, enum dh_sync_class c)
{
    order(object, OUT, DH_EVENT_RELEASE, c);
}

void dh_sync_release_join(const void *object, enum dh_sync_class c)
{
    order(object, OUT_JOIN, DH_EVENT_RELEASE_JOIN, c);
}

void dh_sync_acquire_release(const void *object, enum dh_sync_class c)
{
    order(object, IN | OUT_JOIN, DH_EVENT_ACQUIRE_RELEASE, c);
}

void dh_race_forget_object(const void *object)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!dh_race_enter(s))
        return;
    dh_sync_remove((uintptr_t)object, 1);
    dh_race_leave(s);
}

void dh_sync_forget(const void *object, enum dh_sync_class c)
{
    dh_record_event(DH_EVENT_FORGET, 0, object, c, NULL);
    dh_race_forget_object(object);
}

void dh_sync_block(const void *object, enum dh_sync_class c, unsigned flags, const uintptr_t *call_slot)
{
    dh_record_event(DH_EVENT_BLOCK, flags, object, c, call_slot);
}

void dh_sync_unblock(const void *object, enum dh_sync_class c, const uintptr_t *call_slot)
{
    dh_record_event(DH_EVENT_UNBLOCK, 0, object, c, call_slot);
}

/* ---- threads ---- */

enum { LARGE_HISTORIES = 16, SMALL_HISTORIES_FROM = 256 };

/* Many threads at once share the memory that few may have. */
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
    s->gate.lent = 1; /* of nobody yet: the first entry takes one */
    return s;
}

static void become(const struct dh_clock *past)
{
    struct dh_race_state *s = new_state(&__dh_thread, past);
    if (!s)
        return;
    s->gate.busy = 1;
    __dh_thread.known = s->known;
    __atomic_store_n(&__dh_thread.race, s, __ATOMIC_RELEASE);
    if (dh_slot_take(s))
        dh_race_new_epoch(s);
    dh_race_leave(s);
}

struct token {
    uint32_t generation;
    struct dh_sync_clock *past;
    struct dh_stale_birth *stale;
};

static void *new_token(void)
{
    struct dh_race_state *s = __dh_thread.race;
    dh_atom_pass(DH_PASS_OTHER);
    dh_units_release();
    struct token *t = dh_race_on || dh_stale_on ? dh_alloc(sizeof *t) : NULL;
    if (!t)
        return NULL;
    *t = (struct token){0};
    if (dh_race_enter(s)) {
        t->generation = s->generation;
        dh_edge_out(s, &t->past);
        dh_race_leave(s);
    }
    return t;
}

void *dh_sync_thread_create(const struct dh_thread *created)
{
    dh_record_thread_created(created);
    struct token *t = new_token();
    if (t && dh_stale_on && created)
        t->stale = dh_stale_thread_create(created->index);
    return t;
}

void dh_sync_thread_abandon(void *token)
{
    struct token *t = token;
    if (!t)
        return;
    dh_stale_thread_abandon(t->stale);
    dh_sync_clock_clear(&t->past);
    dh_free(t, sizeof *t);
}

struct dh_race_state *dh_race_state_parked(struct dh_thread_state *tls)
{
    struct token *t = new_token();
    struct dh_race_state *s = t ? new_state(tls, t->past ? &t->past->clock : NULL) : NULL;
    if (s) {
        s->generation = t->past ? t->generation : s->generation;
        atomic_store(&s->gate.blocked, DH_BLOCKED);
    }
    dh_sync_thread_abandon(t);
    return s;
}

void dh_race_state_end(struct dh_race_state *s)
{
    s->gate.busy = 1;
    dh_slot_give(s); /* if it is still its own: `lent` may be of somebody who is about to give up */
    dh_race_state_release(s);
}

void dh_sync_thread_begin(void *token)
{
    struct token *t = token;
    dh_record_thread_begin();
    dh_units_thread_begin();
    if (t && dh_stale_on) {
        dh_stale_forget((void *)__dh_thread.stack_low, __dh_thread.stack_high - __dh_thread.stack_low);
        dh_stale_thread_begin(t->stale);
        t->stale = NULL;
    }
    if (!dh_race_on || __dh_thread.race) {
        dh_sync_thread_abandon(t);
        return;
    }
    bool valid = t && t->past && t->generation == dh_slots_generation();
    become(valid ? &t->past->clock : NULL);
    dh_sync_thread_abandon(t);
    /* The stack may have been another thread's, and what is ours of it now will be the program's. */
    dh_race_begin_anew((void *)__dh_thread.stack_low, __dh_thread.stack_high - __dh_thread.stack_low);
}

/* Where a thread leaves its past for whoever joins it: no address of the program's. */
static const void *end_of(uint32_t index)
{
    return (const void *)((uintptr_t)1 << 63 | (uintptr_t)index * 64);
}

/* From here on the detector does not look at the calling thread. */
static void stop_looking(struct dh_race_state *s)
{
    s->gate.busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __dh_thread.own = 0;
    __dh_thread.race = NULL;
    __dh_thread.known = dh_knows_nothing;
    __dh_thread.stamp = 0;
}

void dh_sync_thread_end(void)
{
    struct dh_race_state *s = __dh_thread.race;
    dh_record_thread_end();
    dh_atom_thread_ends();
    dh_units_thread_end();
    DH_STALE(dh_stale_thread_end(end_of(__dh_thread.index)));
    if (!s)
        return;
    dh_bytes_zero(s->ignoring, sizeof s->ignoring);
    s->gate.ignores = 0;
    dh_memory_thread_ends(s);
    const struct dh_thread *t = __dh_thread.thread;
    if (!t || !(atomic_load(&t->flags) & DH_THREAD_DETACHED))
        through(end_of(__dh_thread.index), OUT);
    stop_looking(s);
    dh_race_state_end(s);
}

void dh_sync_thread_joined(uint32_t index, const uintptr_t *call_slot)
{
    dh_record_event(DH_EVENT_THREAD_JOIN, 0, NULL, index, call_slot);
    through(end_of(index), IN);
    dh_race_forget_object(end_of(index));
    DH_STALE(dh_stale_forget_object(end_of(index)));
}

void dh_sync_thread_detached(uint32_t index)
{
    dh_record_event(DH_EVENT_THREAD_DETACH, 0, NULL, index, NULL);
}

void dh_blocking_begin(void)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!s || s->gate.busy)
        return;
    atomic_store(&s->gate.blocked, DH_BLOCKED);
}

void dh_blocking_end(void)
{
    struct dh_race_state *s = __dh_thread.race;
    dh_units_acquired();
    if (!s || s->gate.busy)
        return;
    if (atomic_exchange(&s->gate.blocked, DH_RUNS) == DH_BLOCKED_LENT) {
        __dh_thread.own = DH_OWN_LENT;
        atomic_store(&s->gate.lent, 1);
    }
}

/* ---- being left alone ---- */

void dh_race_ignore_begin(struct dh_race_state *s, enum dh_ignored what)
{
    s->ignoring[what]++;
    s->gate.ignores |= (uint8_t)(1 << what);
}

bool dh_race_ignore_end(struct dh_race_state *s, enum dh_ignored what)
{
    if (!s->ignoring[what])
        return false;
    if (!--s->ignoring[what])
        s->gate.ignores &= (uint8_t)~(1 << what);
    return true;
}

void dh_ignore_begin(void)
{
    dh_record_ignore_begin(DH_IGNORED_ALL);
    dh_atom_ignore(1);
    if (__dh_thread.race)
        dh_race_ignore_begin(__dh_thread.race, DH_IGNORED_ALL);
}

void dh_ignore_end(void)
{
    dh_record_ignore_end(DH_IGNORED_ALL);
    dh_atom_ignore(-1);
    if (__dh_thread.race)
        dh_race_ignore_end(__dh_thread.race, DH_IGNORED_ALL);
}

/* ---- the beginning ---- */

void dh_race_start_main(void)
{
    become(NULL);
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
        stop_looking(s);
}
