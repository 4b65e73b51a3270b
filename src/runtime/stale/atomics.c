/* Atomic operations at chosen places, served by the adversary. */
#include "runtime/stale/shard.h"

#include "runtime/platform/native_atomics.h"

static uint64_t native_load(const void *addr, unsigned size)
{
    return size == 8   ? dh_native_load8(addr)
           : size == 4 ? dh_native_load4(addr)
           : size == 2 ? dh_native_load2(addr)
                       : dh_native_load1(addr);
}

static void native_store(void *addr, uint64_t value, unsigned size, uint32_t what)
{
    if (size == 8)
        dh_native_store8(addr, value, what);
    else if (size == 4)
        dh_native_store4(addr, (uint32_t)value, what);
    else if (size == 2)
        dh_native_store2(addr, (uint16_t)value, what);
    else
        dh_native_store1(addr, (uint8_t)value, what);
}

/* Returns the old value. */
static uint64_t native_cas(void *addr, uint64_t expected, uint64_t desired, unsigned size)
{
    return size == 8   ? dh_native_cas8(addr, expected, desired)
           : size == 4 ? dh_native_cas4(addr, (uint32_t)expected, (uint32_t)desired)
           : size == 2 ? dh_native_cas2(addr, (uint16_t)expected, (uint16_t)desired)
                       : dh_native_cas1(addr, (uint8_t)expected, (uint8_t)desired);
}

static uint64_t combine(uint64_t old, uint64_t operand, uint32_t rmw, unsigned size)
{
    return size == 8   ? dh_native_combine8(old, operand, rmw)
           : size == 4 ? dh_native_combine4((uint32_t)old, (uint32_t)operand, rmw)
           : size == 2 ? dh_native_combine2((uint16_t)old, (uint16_t)operand, rmw)
                       : dh_native_combine1((uint8_t)old, (uint8_t)operand, rmw);
}

/* An atomic operation under way, with its synchronisation object and shard locked. Without a shard it is performed as
 * any other. */
struct served_atomic {
    struct dh_atomic_op op;
    struct dh_stale_line_access k;
    struct dh_stale_shard *s;
    uint64_t began;
};

static void begin_atomic(struct served_atomic *m, const void *addr, uint32_t what, uint32_t place)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    uint64_t at = (uint64_t)(uintptr_t)addr;
    bool served = dh_stale_on && t && !t->busy && !dh_stale_is_unsampled(at, what);
    dh_stale_touch(at, 1);
    *m = (struct served_atomic){.op = {.addr = at, .what = what & DH_STALE_WHAT, .place = place}};
    m->k = (struct dh_stale_line_access){t, at, m->op.what >> 16, m->op.what, place};
    if (served)
        m->began = dh_stale_budget_begin(t, what);
    dh_atomic_enter(&m->op);
    if (served && m->op.object)
        m->s = dh_stale_lock_shard(at);
}

static void end_atomic(struct served_atomic *m, bool wrote)
{
    struct dh_stale_thread *t = m->k.t;
    if (m->s)
        dh_stale_unlock_shard(m->s);
    dh_atomic_leave(&m->op, wrote);
    if (m->s)
        dh_stale_budget_charge(t, m->began);
}

/* An initial value releases nothing; but after a location began anew, uninstrumented code may have written it.
 */
static bool is_initial_value(const struct dh_engine_stale_read *r)
{
    return r->candidates && r->got.place == UINT32_MAX && !atomic_load(&dh_stale_control->untold);
}

uint64_t dh_stale_atomic_load(const void *addr, uint32_t what, uint32_t place)
{
    struct served_atomic m;
    struct dh_engine_stale_read read = {0};
    uint64_t value = 0;
    begin_atomic(&m, addr, what, place);
    if (m.s) {
        dh_stale_load_line(m.s, &m.k, &value, &read);
        if (is_initial_value(&read))
            m.op.what &= ~0xFF00u;
    } else
        value = native_load(addr, m.k.size);
    end_atomic(&m, false);
    return value;
}

void dh_stale_atomic_store(void *addr, uint64_t value, uint32_t what, uint32_t place)
{
    struct served_atomic m;
    begin_atomic(&m, addr, what, place);
    if (m.s)
        dh_stale_store_line(m.s, &m.k, &value);
    native_store(addr, value, m.k.size, m.op.what);
    end_atomic(&m, true);
}

/* Reads the newest value. Uninstrumented code may write in between: then the model finds another value in memory, and
 * the operation is repeated. */
static uint64_t update(struct served_atomic *m, uint64_t old, uint64_t value)
{
    if (m->s)
        dh_stale_store_line(m->s, &m->k, &value);
    return native_cas((void *)(uintptr_t)m->k.at, old, value, m->k.size);
}

uint64_t dh_stale_atomic_rmw(void *addr, uint64_t operand, uint32_t what, uint32_t rmw, uint32_t place)
{
    struct served_atomic m;
    begin_atomic(&m, addr, what, place);
    uint64_t old = native_load(addr, m.k.size), seen;
    while ((seen = update(&m, old, combine(old, operand, rmw, m.k.size))) != old)
        old = seen;
    end_atomic(&m, true);
    return old;
}

uint64_t dh_stale_atomic_cas(void *addr, uint64_t expected, uint64_t desired, uint32_t what, uint32_t failure,
                             uint32_t place)
{
    struct served_atomic m;
    begin_atomic(&m, addr, what, place);
    uint64_t old = native_load(addr, m.k.size);
    if (old == expected)
        old = update(&m, old, desired);
    if (old != expected)
        m.op.what = (m.op.what & ~0xFF00u) | failure << 8;
    end_atomic(&m, old == expected);
    return old;
}
