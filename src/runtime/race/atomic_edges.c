/* Happens-before of atomics by the C++17 rules of synchronizes-with, release sequences and fences (32.4, 32.9), on
 * vector clocks. The variable's clock is what a load of its present value acquires: that of the head of the release
 * sequence which the value belongs to. A store begins a new sequence, a read-modify-write continues it. */
#include "runtime/race/internal.h"
#include "runtime/sync/observer.h"

#include "event/site.h"
#include "runtime/race/shadow.h"

static unsigned size_of(const struct dh_atomic_op *op)
{
    return op->what >> 16;
}

static void record_access(struct dh_race_state *s, const struct dh_atomic_op *op, bool writes)
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

/* An equal access was recorded in this epoch: plain accesses since then were checked against it. */
static bool repeats(const struct dh_race_state *s, const struct dh_atomic_op *op, enum dh_access_kind kind)
{
    dh_cell *cells = dh_shadow_of(op->addr), c = __atomic_load_n(cells, __ATOMIC_ACQUIRE);
    unsigned size = size_of(op), granules = (unsigned)((op->addr & 3) + size + 3) / 4;
    if (!dh_cell_is_line(c) || (op->addr & 63) + size > 64)
        return false;
    const struct dh_column *mine =
        dh_shadow_line_find_column(&dh_race_tables.lines.at[dh_cell_line(c)], dh_epoch_slot(s->t.time));
    uint64_t bytes = dh_filter_bytes(op->addr, size);
    if (!mine || !(dh_column_has(mine, bytes, DH_ATOMIC_WRITES, s->t.time) ||
                   (kind == DH_ATOMIC_READS && dh_column_has(mine, bytes, kind, s->t.time))))
        return false;
    for (unsigned i = 0; i < granules; i++)
        if (__atomic_load_n(&cells[i], __ATOMIC_ACQUIRE) != c)
            return false;
    return true;
}

/* Atomics race with plain accesses only. */
static void check(struct dh_race_state *s, const struct dh_atomic_op *op, bool writes)
{
    unsigned size = size_of(op);
    enum dh_access_kind kind = writes ? DH_ATOMIC_WRITES : DH_ATOMIC_READS;
    if (dh_race_ignores(s, writes ? DH_IGNORED_WRITES : DH_IGNORED_READS) || repeats(s, op, kind))
        return;
    s->access_addr = op->addr;
    s->access_size = size;
    record_access(s, op, writes);
    struct dh_checked_access a = {.addr = op->addr, .size = size, .kind = kind, .place = op->place};
    dh_race_record(&dh_race_tables, &s->t, dh_shadow_of(op->addr), &a);
}

static void load_edge(struct dh_race_state *s, const struct dh_sync_object *o, unsigned order)
{
    if (!o->clock)
        return;
    if (dh_order_acquires(order))
        dh_race_edge_acquire(s, o->clock);
    else
        dh_fences_load(&s->fences, o);
}

/* Of a value that several stores made, a part each, all are acquired. */
static void load_edges(struct dh_race_state *s, const struct dh_sync_object *o, unsigned size, unsigned order)
{
    if (dh_race_ignores(s, DH_IGNORED_SYNC))
        return;
    load_edge(s, o, order);
    for (const struct dh_sync_object *part = NULL; (part = dh_sync_object_overlapping(o, size, part));)
        load_edge(s, part, order);
}

static void store_edges(struct dh_race_state *s, struct dh_sync_object *o, unsigned order, bool rmw)
{
    if (!rmw)
        dh_sync_clock_clear(&o->clock);
    if (dh_order_releases(order))
        dh_race_edge_release_join(s, &o->clock);
    else
        dh_fences_store(&s->fences, o);
}

/* After a load: its clock was acquired, or waits for an acquire fence, and the access is recorded in this epoch: until
 * the variable changes, equal loads need no check. */
static void learn(struct dh_race_state *s, const struct dh_atomic_op *op, const struct dh_sync_object *o,
                  unsigned order)
{
    if (s->gate.ignores)
        return;
    const _Atomic uint64_t *version = dh_sync_object_version(o);
    *dh_known_atomic_at(s->atomics, op->addr) =
        (struct dh_known_atomic){.addr = op->addr,
                                 .version = version,
                                 .known = atomic_load_explicit(version, memory_order_relaxed),
                                 .stamp = s->stamp,
                                 .size = size_of(op),
                                 .acquired = dh_order_acquires(order)};
}

const _Atomic uint64_t *dh_race_atomic_known(const void *addr, uint32_t what, uint64_t *version)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!dh_gate_is_open(s))
        return NULL;
    return dh_known_atomic_version(dh_known_atomic_at(s->atomics, (uintptr_t)addr), (uintptr_t)addr, what, s->stamp,
                                   version);
}

static void finish(struct dh_race_state *s)
{
    s->defers_reports = false;
    if (s->n_deferred)
        dh_race_report_deferred(s);
    dh_race_leave(s);
}

/* A load is checked after the operation, since what it acquires orders it. A store is checked before: what it publishes
 * may let other threads free the variable. Whether a compare-exchange writes is known only afterwards. Loads and stores
 * are checked outside the object's lock: other threads may interleave a load and a store that depends on it, as in the
 * uninstrumented program. */
void dh_race_atomic_enter(struct dh_atomic_op *op)
{
    struct dh_race_state *s = __dh_thread.race;
    unsigned what = op->what & 255, order = op->what >> 8 & 255;
    if (!dh_race_enter(s))
        return;
    s->defers_reports = true;
    if (what == DH_OP_ATOMIC_STORE)
        check(s, op, true);
    struct dh_sync_object *o = dh_sync_object_lock(op->addr, true);
    if (!o) {
        finish(s);
        return;
    }
    op->object = o;
    dh_sync_object_widen(o, size_of(op), what == DH_OP_ATOMIC_STORE || what == DH_OP_ATOMIC_RMW);
    if (what != DH_OP_ATOMIC_LOAD)
        dh_sync_object_begin_change(o);
    if (what == DH_OP_ATOMIC_RMW) {
        load_edges(s, o, size_of(op), order);
        check(s, op, true);
    }
}

static void leave_load(struct dh_race_state *s, struct dh_atomic_op *op, struct dh_sync_object *o, unsigned order)
{
    if (order != DH_ORDER_NONE)
        load_edges(s, o, size_of(op), order);
    learn(s, op, o, order);
    dh_sync_object_unlock_unchanged(o);
    check(s, op, false);
}

static void leave_change(struct dh_race_state *s, struct dh_atomic_op *op, struct dh_sync_object *o, bool wrote)
{
    unsigned order = op->what >> 8 & 255, what = op->what & 255;
    if (what == DH_OP_ATOMIC_CAS) {
        if (order != DH_ORDER_NONE)
            load_edges(s, o, size_of(op), order);
        check(s, op, wrote);
        if (wrote)
            dh_sync_object_widen(o, size_of(op), true);
    }
    if (wrote)
        store_edges(s, o, order, what != DH_OP_ATOMIC_STORE);
    dh_sync_object_unlock(o);
}

void dh_race_atomic_leave(struct dh_atomic_op *op, bool wrote)
{
    struct dh_race_state *s = __dh_thread.race;
    struct dh_sync_object *o = op->object;
    unsigned order = op->what >> 8 & 255, what = op->what & 255;
    if (!o || !s)
        return;
    if (what == DH_OP_ATOMIC_LOAD)
        leave_load(s, op, o, order);
    else
        leave_change(s, op, o, wrote);
    finish(s);
}

void dh_race_atomic_fence(uint32_t order)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!dh_race_enter(s))
        return;
    if (dh_order_acquires(order))
        dh_fences_acquire(&s->fences, &s->t.clock);
    if (dh_order_releases(order)) {
        uint32_t time = s->t.time;
        s->fences.release.n = 0;
        dh_race_release(&s->t, &s->fences.release);
        s->fences.has_release = true;
        if (s->t.time != time)
            dh_race_new_epoch(s);
    }
    dh_race_leave(s);
}
