/* Which operations of a trace come before which, by the core's rules. Built by the plain compiler, without calls of the
 * library that the runtime would take for the program's. */
#include "order.h"

#include "event/happens_before.h"
#include "runtime/core/thread_state.h"
#include "runtime/race/race_state.h"

/* The native link comes before the one with the runtime. */
#pragma weak __dh_thread
#pragma weak dh_hb_acquire
#pragma weak dh_hb_fence
#pragma weak dh_hb_fork
#pragma weak dh_hb_join
#pragma weak dh_hb_load
#pragma weak dh_hb_lock
#pragma weak dh_hb_release
#pragma weak dh_hb_release_join
#pragma weak dh_hb_store
#pragma weak dh_hb_thread_init
#pragma weak dh_hb_unlock
#pragma weak dh_hb_update

enum { NUMBERS = 64 };

/* Clocks have all the room they need from the beginning. */
static struct {
    struct dh_hb_thread thread[ORDER_THREADS];
    uint32_t thread_entries[ORDER_THREADS][3][ORDER_THREADS];
    struct object {
        unsigned object, offset;
        int owner; /* of a lock, exclusively; -1: nobody */
        bool used; /* of once: it was called */
        struct dh_hb_object hb;
        uint32_t entries[2][ORDER_THREADS];
    } object[ORDER_OPS];
    unsigned n_objects;
    struct access {
        int op;
        unsigned thread;
        uint32_t epoch;   /* by the rules */
        uint32_t runtime; /* slot and clock */
    } access[ORDER_OPS];
    unsigned n_accesses;
} order;

static struct dh_hb_clock clock_in(uint32_t *entries)
{
    return (struct dh_hb_clock){entries, 0, ORDER_THREADS};
}

void order_begin(void)
{
    order.n_objects = order.n_accesses = 0;
    for (uint32_t i = 0; i < ORDER_THREADS; i++) {
        struct dh_hb_thread *t = &order.thread[i];
        t->clock = clock_in(order.thread_entries[i][0]);
        t->release_fence = clock_in(order.thread_entries[i][1]);
        t->acquire_fence = clock_in(order.thread_entries[i][2]);
        dh_hb_thread_init(NULL, t, i, 1);
    }
}

static struct object *object_at(unsigned object, unsigned offset)
{
    struct object *o = order.object;
    for (; o < order.object + order.n_objects; o++)
        if (o->object == object && o->offset == offset)
            return o;
    order.n_objects++;
    o->object = object;
    o->offset = offset;
    o->owner = -1;
    o->used = false;
    o->hb.clock = clock_in(o->entries[0]);
    o->hb.readers = clock_in(o->entries[1]);
    return o;
}

int order_differs(unsigned thread)
{
    const struct dh_race_state *s = __dh_thread.race;
    for (unsigned i = 0; s && i < order.n_accesses; i++) {
        const struct access *a = &order.access[i];
        bool known = dh_vclock_get(&order.thread[thread].clock, a->thread) >= a->epoch;
        if (a->thread != thread && known != dh_clock_covers(&s->t.clock, a->runtime))
            return a->op;
    }
    return -1;
}

/* What the calling thread has accessed in its epoch, if anything, has this name. */
static void name_epoch(int op, unsigned thread)
{
    const struct dh_race_state *s = __dh_thread.race;
    if (s && s->t.dirty)
        order.access[order.n_accesses++] =
            (struct access){op, thread, dh_hb_epoch(&order.thread[thread]), s->t.time & DH_EPOCH_TIME};
}

/* ---- operations by name ---- */

/* What follows `word` in `name`, or NULL. */
static const char *after(const char *name, const char *word)
{
    for (; *word; name++, word++)
        if (*name != *word)
            return NULL;
    return name;
}

static bool is(const char *name, const char *word)
{
    const char *end = after(name, word);
    return end && !*end;
}

static enum dh_order order_named(const char *name)
{
    static const struct {
        const char *name;
        enum dh_order order;
    } orders[] = {{"relaxed", DH_ORDER_RELAXED},
                  {"acquire", DH_ORDER_ACQUIRE},
                  {"release", DH_ORDER_RELEASE},
                  {"acq_rel", DH_ORDER_ACQ_REL},
                  {"seq_cst", DH_ORDER_SEQ_CST}};
    for (; *name; name++)
        for (unsigned i = 0; i < sizeof orders / sizeof *orders; i++)
            if (is(name, orders[i].name))
                return orders[i].order;
    return DH_ORDER_NONE;
}

static bool atomic(const char *name, struct dh_hb_thread *t, unsigned object, unsigned offset)
{
    enum dh_order o = order_named(name);
    if (o == DH_ORDER_NONE)
        return false;
    if (after(name, "fence_")) {
        dh_hb_fence(NULL, t, o);
        return true;
    }
    struct dh_hb_clock *message = &object_at(object, offset)->hb.clock;
    if (after(name, "store")) {
        dh_hb_store(NULL, t, message, o);
        return true;
    }
    dh_hb_load(NULL, t, message, o);
    if (!after(name, "load") && !after(name, "swap_fails"))
        dh_hb_update(NULL, t, message, o);
    return true;
}

static void lock(struct dh_hb_thread *t, struct object *o, bool shared)
{
    if (!shared)
        o->owner = (int)t->slot;
    dh_hb_lock(NULL, t, &o->hb, shared);
}

static void unlock(struct dh_hb_thread *t, struct object *o)
{
    bool shared = o->owner != (int)t->slot;
    if (!shared)
        o->owner = -1;
    dh_hb_unlock(NULL, t, &o->hb, shared);
}

static bool locks(const char *name, struct dh_hb_thread *t, struct object *o)
{
    if (is(name, "lock") || is(name, "lock_timed") || is(name, "lock_tried") || is(name, "spin_lock") ||
        is(name, "write_lock"))
        lock(t, o, false);
    else if (is(name, "read_lock"))
        lock(t, o, true);
    else if (is(name, "unlock") || is(name, "spin_unlock") || is(name, "rwlock_unlock"))
        unlock(t, o);
    else
        return false;
    return true;
}

static void lock_and_unlock(struct dh_hb_thread *t, struct object *o)
{
    lock(t, o, false);
    unlock(t, o);
}

static bool semaphore_or_once(const char *name, struct dh_hb_thread *t, struct object *o)
{
    if (is(name, "post")) {
        dh_hb_release_join(NULL, t, &o->hb.clock);
    } else if (is(name, "wait") || is(name, "wait_tried")) {
        dh_hb_acquire(NULL, t, &o->hb.clock);
    } else if (is(name, "once")) {
        if (!o->used)
            dh_hb_release(NULL, t, &o->hb.clock);
        o->used = true;
        dh_hb_acquire(NULL, t, &o->hb.clock);
    } else {
        return false;
    }
    return true;
}

void order_apply(int op, const char *name, unsigned thread, unsigned object, unsigned offset, unsigned other)
{
    struct dh_hb_thread *t = &order.thread[thread];
    if (atomic(name, t, object, offset))
        return;
    struct object *o = object_at(object, 0);
    if (locks(name, t, o) || semaphore_or_once(name, t, o))
        return;
    if (is(name, "create")) {
        dh_hb_fork(NULL, t, &order.thread[object % NUMBERS]);
    } else if (is(name, "join")) {
        dh_hb_join(NULL, t, &order.thread[other % NUMBERS]);
    } else if (is(name, "cond_wait")) {
        lock_and_unlock(t, o);
    } else if (is(name, "cond_signal")) {
        lock_and_unlock(t, o);
        lock_and_unlock(&order.thread[other], o);
    } else {
        name_epoch(op, thread);
    }
}

void order_barrier(const unsigned *threads, unsigned n)
{
    uint32_t entries[ORDER_THREADS];
    struct dh_hb_clock all = clock_in(entries);
    for (unsigned i = 0; i < n; i++)
        dh_hb_release_join(NULL, &order.thread[threads[i]], &all);
    for (unsigned i = 0; i < n; i++)
        dh_hb_acquire(NULL, &order.thread[threads[i]], &all);
}
