/* Atomics: the C11 rules of synchronizes-with, release sequences and fences (29.3, 29.8 of the 2017 draft numbering:
 * 32.4, 32.9), on clocks. The variable's clock is what a reader of its present value acquires: the head of the release
 * sequence that value belongs to. A store begins a new one, a read-modify-write goes on with it. */
#include "runtime/core/sync.h"
#include "runtime/race/internal.h"

#include "event/site.h"
#include "runtime/consistency/scopes.h"
#include "runtime/race/shadow.h"
#include "runtime/record/record.h"
#include "runtime/stale/stale.h"

static bool acquires(unsigned order)
{
    return order == DH_ORDER_ACQUIRE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
}

static bool releases(unsigned order)
{
    return order == DH_ORDER_RELEASE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
}

static unsigned size_of(const struct dh_atomic_op *op)
{
    return op->what >> 16;
}

static void note(struct dh_race_state *s, const struct dh_atomic_op *op, bool writes)
{
    if (!dh_race_history_room(s, 2))
        return;
    dh_history_add(&s->history, dh_history_meta(DH_META_CONTEXT, dh_race_context(s)));
    s->context_value = ~(uint64_t)0;
    /* Sizes that only libatomic has are rounded up; there are three bits for them. */
    unsigned log = size_of(op) > 1 ? 32 - (unsigned)__builtin_clz(size_of(op) - 1) : 0;
    log = log < 7 ? log : 7;
    dh_history_add(&s->history, dh_history_access(DH_HISTORY_ATOMIC, op->addr, log, writes, op->place));
}

/* The same was done before in this epoch: whoever accessed it plainly since then was held against that. */
static bool repeats(const struct dh_race_state *s, const struct dh_atomic_op *op, enum dh_access_kind kind)
{
    dh_cell *cells = dh_shadow_of(op->addr), c = __atomic_load_n(cells, __ATOMIC_ACQUIRE);
    unsigned size = size_of(op), granules = (unsigned)((op->addr & 3) + size + 3) / 4;
    if (!dh_cell_is_line(c) || (op->addr & 63) + size > 64)
        return false;
    const struct dh_column *mine = dh_line_find(&dh_race_world.lines.at[dh_cell_line(c)], dh_epoch_slot(s->t.time));
    uint64_t bytes = dh_filter_bytes(op->addr, size);
    if (!mine || !(dh_column_says(mine, bytes, DH_ATOMIC_WRITES, s->t.time) ||
                   (kind == DH_ATOMIC_READS && dh_column_says(mine, bytes, kind, s->t.time))))
        return false;
    for (unsigned i = 0; i < granules; i++)
        if (__atomic_load_n(&cells[i], __ATOMIC_ACQUIRE) != c)
            return false;
    return true;
}

/* Against plain accesses. */
static void check(struct dh_race_state *s, const struct dh_atomic_op *op, bool writes)
{
    unsigned size = size_of(op);
    enum dh_access_kind kind = writes ? DH_ATOMIC_WRITES : DH_ATOMIC_READS;
    if (dh_race_ignores(s, writes ? DH_IGNORED_WRITES : DH_IGNORED_READS) || repeats(s, op, kind))
        return;
    s->access_addr = op->addr;
    s->access_size = size;
    note(s, op, writes);
    struct dh_access a = {.addr = op->addr, .size = size, .kind = kind, .place = op->place};
    dh_race_record(&dh_race_world, &s->t, dh_shadow_of(op->addr), &a);
}

static void load_edges(struct dh_race_state *s, const struct dh_sync *o, unsigned order)
{
    if (!o->clock || dh_race_ignores(s, DH_IGNORED_SYNC))
        return;
    if (acquires(order)) {
        dh_edge_in(s, o->clock);
        return;
    }
    if (!s->has_fence_acquire)
        s->fence_acquire.n = 0;
    s->has_fence_acquire = true;
    dh_vclock_join(&s->fence_acquire, &o->clock->clock);
}

/* What a release fence before it published, for a store or rmw that is no release itself. */
static void fenced(struct dh_race_state *s, struct dh_sync *o)
{
    struct dh_clock *to = s->has_fence_release ? dh_sync_clock_for(&o->clock, s->fence_release.n) : NULL;
    if (to)
        dh_vclock_join(to, &s->fence_release);
}

static void store_edges(struct dh_race_state *s, struct dh_sync *o, unsigned order, bool rmw)
{
    if (!rmw)
        dh_sync_clock_clear(&o->clock);
    if (releases(order))
        dh_edge_out_join(s, &o->clock);
    else
        fenced(s, o);
}

static struct dh_known_atomic *known_at(struct dh_race_state *s, uintptr_t addr)
{
    return &s->atomics[addr >> 2 & (DH_KNOWN_ATOMICS - 1)];
}

/* After a load: its past is known, or waits for a fence, and that it happened in this epoch is recorded. */
static void learn(struct dh_race_state *s, const struct dh_atomic_op *op, const struct dh_sync *o, unsigned order)
{
    if (s->gate.ignores)
        return;
    const _Atomic uint64_t *version = dh_sync_version(o);
    *known_at(s, op->addr) = (struct dh_known_atomic){.addr = op->addr,
                                                      .version = version,
                                                      .known = atomic_load_explicit(version, memory_order_relaxed),
                                                      .stamp = s->stamp,
                                                      .size = size_of(op),
                                                      .acquired = acquires(order)};
}

const _Atomic uint64_t *dh_atomic_known(const void *addr, uint32_t what, uint64_t *version)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!s && __dh_thread.record)
        return dh_record_atomic_known(addr, what, version);
    if (!s || !dh_gate_is_open(s))
        return NULL;
    const struct dh_known_atomic *k = known_at(s, (uintptr_t)addr);
    if (k->addr != (uintptr_t)addr || k->stamp != s->stamp || k->size != what >> 16 ||
        (!k->acquired && acquires(what >> 8 & 255)))
        return NULL;
    *version = k->known;
    return atomic_load_explicit(k->version, memory_order_acquire) == k->known ? k->version : NULL;
}

static void finish(struct dh_race_state *s)
{
    s->waits = false;
    if (s->n_waiting)
        dh_race_report_waiting(s);
    dh_race_leave(s);
}

/* A reader is ordered after what it acquires by this very operation, so it is checked then. A writer is checked before
 * it happens: what it publishes may let others free the variable. Only afterwards it is known whether a
 * compare-exchange writes. Loads and stores are checked without the object: other threads may come between a load and
 * the store that follows from it, as they may where nobody looks. */
void dh_atomic_enter(struct dh_atomic_op *op)
{
    struct dh_race_state *s = __dh_thread.race;
    unsigned what = op->what & 255, order = op->what >> 8 & 255;
    op->object = NULL;
    dh_record_atomic_enter(op);
    if (__builtin_expect(dh_units_on, 0) && what != DH_OP_ATOMIC_LOAD)
        dh_units_atomic_changes(op->addr);
    if (releases(order))
        dh_units_release();
    DH_STALE(dh_stale_atomic_enter(op));
    if (!dh_race_enter(s))
        return;
    s->waits = true;
    if (what == DH_OP_ATOMIC_STORE)
        check(s, op, true);
    struct dh_sync *o = dh_sync_lock(op->addr, true);
    if (!o) {
        finish(s);
        return;
    }
    op->object = o;
    if (what != DH_OP_ATOMIC_LOAD)
        dh_sync_changes(o);
    if (what == DH_OP_ATOMIC_RMW) {
        load_edges(s, o, order);
        check(s, op, true);
    }
}

static void leave_load(struct dh_race_state *s, struct dh_atomic_op *op, struct dh_sync *o, unsigned order)
{
    if (order != DH_ORDER_NONE)
        load_edges(s, o, order);
    learn(s, op, o, order);
    dh_sync_unlock_unchanged(o);
    check(s, op, false);
}

static void leave_change(struct dh_race_state *s, struct dh_atomic_op *op, struct dh_sync *o, bool wrote)
{
    unsigned order = op->what >> 8 & 255, what = op->what & 255;
    if (what == DH_OP_ATOMIC_CAS) {
        if (order != DH_ORDER_NONE)
            load_edges(s, o, order);
        check(s, op, wrote);
    }
    if (wrote)
        store_edges(s, o, order, what != DH_OP_ATOMIC_STORE);
    dh_sync_unlock(o);
}

void dh_atomic_leave(struct dh_atomic_op *op, bool wrote)
{
    struct dh_race_state *s = __dh_thread.race;
    struct dh_sync *o = op->object;
    dh_record_atomic_leave(op, wrote);
    unsigned order = op->what >> 8 & 255, what = op->what & 255;
    if (__builtin_expect(dh_units_on, 0) && what != DH_OP_ATOMIC_LOAD)
        dh_units_atomic_changed(op->addr);
    if (acquires(order))
        dh_units_acquired();
    DH_STALE(dh_stale_atomic_leave(op, wrote));
    if (!o || !s)
        return;
    if (what == DH_OP_ATOMIC_LOAD)
        leave_load(s, op, o, order);
    else
        leave_change(s, op, o, wrote);
    finish(s);
}

void dh_atomic_fence(uint32_t order)
{
    struct dh_race_state *s = __dh_thread.race;
    dh_record_event(DH_EVENT_FENCE, 0, NULL, order, NULL);
    dh_units_release();
    dh_units_acquired();
    DH_STALE(dh_stale_fence(order));
    if (!dh_race_enter(s))
        return;
    if (acquires(order) && s->has_fence_acquire) {
        dh_vclock_join(&s->t.clock, &s->fence_acquire);
        s->has_fence_acquire = false;
    }
    if (releases(order)) {
        uint32_t time = s->t.time;
        s->fence_release.n = 0;
        dh_race_release(&s->t, &s->fence_release);
        s->has_fence_release = true;
        if (s->t.time != time)
            dh_race_new_epoch(s);
    }
    dh_race_leave(s);
}
