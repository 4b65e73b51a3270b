/* Atomics in the order of the events: one lock for each group of variables is held from before the operation until it
 * is written down. */
#include "runtime/record/state.h"

#include "base/hash.h"
#include "event/site.h"
#include "runtime/platform/lock_order.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/sync/observer.h"

enum { BUCKETS = 1024 };

struct dh_record_bucket {
    _Alignas(64) _Atomic(struct dh_record_state *) owner; /* NULL: it is not locked */
    _Atomic uint64_t version;                             /* odd while a variable is being changed */
};

static struct dh_record_bucket buckets[BUCKETS];

static struct dh_record_bucket *bucket_of(uintptr_t addr)
{
    return &buckets[dh_hash_multiply(addr >> 3) >> 54];
}

static unsigned order_of(uint32_t what)
{
    return what >> 8 & 255;
}

/* False when it is this thread's already, which a signal handler finds: then it is held for both. */
static bool lock(struct dh_record_bucket *b, struct dh_record_state *s)
{
    struct dh_record_state *owner = NULL;
    for (unsigned n = 0;
         !atomic_compare_exchange_weak_explicit(&b->owner, &owner, s, memory_order_acquire, memory_order_relaxed);
         n++, owner = NULL) {
        if (owner == s)
            return false;
        __builtin_ia32_pause();
        if (n % 64 == 63) /* the holder may wait for our processor */
            dh_syscall3(SYS_sched_yield, 0, 0, 0);
    }
    dh_lock_order_acquire(DH_RANK_RECORD_ATOMIC);
    return true;
}

void dh_record_atomic_enter(struct dh_atomic_op *op)
{
    struct dh_record_state *s = __dh_thread.record;
    if (s->ignores & (1 << DH_IGNORED_SYNC | 1 << DH_IGNORED_ALL))
        return;
    struct dh_record_lane *l = dh_record_enter(s);
    if (!l)
        return;
    unsigned order = order_of(op->what);
    if (l == s->lanes && (dh_order_acquires(order) || dh_order_releases(order)))
        dh_record_say_runs(s, l);
    if (!dh_record_room(s, l)) {
        dh_record_leave(l);
        return;
    }
    dh_record_after(s, l);
    dh_record_context(l, dh_record_here(s));
    struct dh_record_bucket *b = bucket_of(op->addr);
    op->lane = l;
    l->bucket = b;
    op->bucket = lock(b, s) ? b : NULL;
    l->bucket = op->bucket;
    if (op->bucket && (op->what & 255) != DH_OP_ATOMIC_LOAD)
        atomic_fetch_add_explicit(&b->version, 1, memory_order_acq_rel);
}

static void learn(struct dh_record_state *s, const struct dh_atomic_op *op, const struct dh_record_bucket *b)
{
    *dh_known_atomic_at(s->atomics, op->addr) =
        (struct dh_known_atomic){.addr = op->addr,
                                 .version = &b->version,
                                 .known = atomic_load_explicit(&b->version, memory_order_relaxed),
                                 .stamp = s->stamp,
                                 .size = op->what >> 16,
                                 .acquired = dh_order_acquires(order_of(op->what))};
}

static void unlock(struct dh_record_state *s, struct dh_atomic_op *op)
{
    struct dh_record_bucket *b = op->bucket;
    if ((op->what & 255) != DH_OP_ATOMIC_LOAD)
        atomic_fetch_add_explicit(&b->version, 1, memory_order_acq_rel);
    else
        learn(s, op, b);
    dh_lock_order_release(DH_RANK_RECORD_ATOMIC);
    atomic_store_explicit(&b->owner, NULL, memory_order_release);
}

/* Nobody knows how far it had come: its version changes, so that nothing is believed to be known of it. */
void dh_record_unlock_left(struct dh_record_state *s, struct dh_record_lane *l)
{
    struct dh_record_bucket *b = l->bucket;
    l->bucket = NULL;
    if (!b || atomic_load_explicit(&b->owner, memory_order_relaxed) != s)
        return;
    atomic_store_explicit(&b->version, (atomic_load_explicit(&b->version, memory_order_relaxed) | 1) + 1,
                          memory_order_release);
    dh_lock_order_release(DH_RANK_RECORD_ATOMIC);
    atomic_store_explicit(&b->owner, NULL, memory_order_release);
}

void dh_record_atomic_leave(struct dh_atomic_op *op, bool wrote)
{
    struct dh_record_state *s = __dh_thread.record;
    struct dh_record_lane *l = op->lane;
    unsigned order = order_of(op->what);
    if (!l)
        return;
    struct dh_event e = {
        .kind = DH_EVENT_ATOMIC, .site = op->place, .addr = op->addr, .arg = op->what | (uint64_t)wrote << 32};
    if (order != DH_ORDER_NONE) /* a compare-exchange that only guessed */
        dh_record_put_event(l, &e);
    l->bucket = NULL;
    if (op->bucket)
        unlock(s, op);
    if (wrote && dh_order_releases(order))
        dh_record_new_segment(s);
    dh_record_leave(l);
}

const _Atomic uint64_t *dh_record_atomic_known(const void *addr, uint32_t what, uint64_t *version)
{
    struct dh_record_state *s = __dh_thread.record;
    return dh_known_atomic_version(dh_known_atomic_at(s->atomics, (uintptr_t)addr), (uintptr_t)addr, what, s->stamp,
                                   version);
}
