/* Stands before libatomic, to which compilers leave atomics of odd sizes, of poor alignment, and of 16 bytes. All of it
 * is done here, so that every caller in the process agrees on how: by the machine where it can, else under a lock of
 * the variable. */
#include "runtime/core/thread_state.h"
#include "runtime/interpose/library_access.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/native_atomics.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/sync/sync.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* The names are the compiler's own, and cannot be declared. */
#define INTERPOSE(function, name)                                                                                      \
    extern __typeof__(function) interposed_##function __asm__(name)                                                    \
        __attribute__((weak, alias(#function), visibility("default")))

/* C's orders by number; consume is acquire. */
static uint32_t order_of(int c_order)
{
    static const uint8_t orders[8] = {DH_ORDER_RELAXED, DH_ORDER_ACQUIRE, DH_ORDER_ACQUIRE, DH_ORDER_RELEASE,
                                      DH_ORDER_ACQ_REL, DH_ORDER_SEQ_CST, DH_ORDER_SEQ_CST, DH_ORDER_SEQ_CST};
    return orders[c_order & 7];
}

#define ALWAYS static inline __attribute__((always_inline))

/* The place that the hook before the call announced; it is good for one call. */
ALWAYS uint32_t announced_place(const uintptr_t *call_slot)
{
    uint32_t place = DH_PLACE_NONE;
    if (!dh_access_wanted(call_slot))
        return place;
    place = __dh_thread.place;
    __dh_thread.place = DH_PLACE_NONE;
    return place;
}

/* In each interposed function itself, for its caller decides. */
#define PLACE announced_place(DH_CALL_SLOT)

ALWAYS struct dh_atomic_op enter(const volatile void *addr, enum dh_op kind, int order, size_t size, uint32_t place)
{
    uint32_t bytes = size > UINT16_MAX ? UINT16_MAX : (uint32_t)size;
    struct dh_atomic_op op = {
        .addr = (uintptr_t)addr, .what = (uint32_t)kind | order_of(order) << 8 | bytes << 16, .place = place};
    if (dh_engine_on)
        dh_engine_library_atomic(addr, op.what, place);
    dh_atomic_enter(&op);
    return op;
}

ALWAYS void leave(struct dh_atomic_op *op, bool wrote)
{
    dh_atomic_leave(op, wrote);
    if (dh_engine_on)
        dh_engine_library_atomic_done((const volatile void *)op->addr, op->what, wrote);
}

static void leave_cas(struct dh_atomic_op *op, bool won, int failure)
{
    if (!won)
        op->what = (op->what & ~0xFF00u) | order_of(failure) << 8;
    leave(op, won);
}

/* ---- sizes of the machine ---- */

/* `do_` functions get the place; libatomic's names are made of them. */
#define LOAD_STORE(type, n)                                                                                            \
    ALWAYS type do_load_##n(const volatile void *addr, int order, uint32_t place)                                      \
    {                                                                                                                  \
        struct dh_atomic_op op = enter(addr, DH_OP_ATOMIC_LOAD, order, n, place);                                      \
        type value = dh_native_load##n((const void *)addr);                                                            \
        leave(&op, false);                                                                                             \
        return value;                                                                                                  \
    }                                                                                                                  \
    static type load_##n(const volatile void *addr, int order)                                                         \
    {                                                                                                                  \
        return do_load_##n(addr, order, PLACE);                                                                        \
    }                                                                                                                  \
    INTERPOSE(load_##n, "__atomic_load_" #n);                                                                          \
    ALWAYS void do_store_##n(volatile void *addr, type value, int order, uint32_t place)                               \
    {                                                                                                                  \
        struct dh_atomic_op op = enter(addr, DH_OP_ATOMIC_STORE, order, n, place);                                     \
        dh_native_store##n((void *)addr, value, op.what);                                                              \
        leave(&op, true);                                                                                              \
    }                                                                                                                  \
    static void store_##n(volatile void *addr, type value, int order)                                                  \
    {                                                                                                                  \
        do_store_##n(addr, value, order, PLACE);                                                                       \
    }                                                                                                                  \
    INTERPOSE(store_##n, "__atomic_store_" #n)

#define RMW(type, n)                                                                                                   \
    ALWAYS type do_rmw_##n(volatile void *addr, type operand, int order, enum dh_rmw rmw, uint32_t place)              \
    {                                                                                                                  \
        struct dh_atomic_op op = enter(addr, DH_OP_ATOMIC_RMW, order, n, place);                                       \
        type old = dh_native_rmw##n((void *)addr, operand, rmw);                                                       \
        leave(&op, true);                                                                                              \
        return old;                                                                                                    \
    }                                                                                                                  \
    static type exchange_##n(volatile void *addr, type value, int order)                                               \
    {                                                                                                                  \
        return do_rmw_##n(addr, value, order, DH_RMW_XCHG, PLACE);                                                     \
    }                                                                                                                  \
    INTERPOSE(exchange_##n, "__atomic_exchange_" #n)

#define COMPARE_EXCHANGE(type, n)                                                                                      \
    ALWAYS bool do_compare_exchange_##n(volatile void *addr, type *expected, type desired, int success, int failure,   \
                                        uint32_t place)                                                                \
    {                                                                                                                  \
        type want = *expected;                                                                                         \
        struct dh_atomic_op op = enter(addr, DH_OP_ATOMIC_CAS, success, n, place);                                     \
        type old = dh_native_cas##n((void *)addr, want, desired);                                                      \
        leave_cas(&op, old == want, failure);                                                                          \
        if (old != want)                                                                                               \
            *expected = old;                                                                                           \
        return old == want;                                                                                            \
    }                                                                                                                  \
    static bool compare_exchange_##n(volatile void *addr, void *expected, type desired, int success, int failure)      \
    {                                                                                                                  \
        return do_compare_exchange_##n(addr, expected, desired, success, failure, PLACE);                              \
    }                                                                                                                  \
    INTERPOSE(compare_exchange_##n, "__atomic_compare_exchange_" #n)

/* Answering the old value and the new one. */
#define FETCH(type, n, name, rmw)                                                                                      \
    static type fetch_##name##_##n(volatile void *addr, type operand, int order)                                       \
    {                                                                                                                  \
        return do_rmw_##n(addr, operand, order, rmw, PLACE);                                                           \
    }                                                                                                                  \
    INTERPOSE(fetch_##name##_##n, "__atomic_fetch_" #name "_" #n);                                                     \
    static type name##_fetch_##n(volatile void *addr, type operand, int order)                                         \
    {                                                                                                                  \
        return dh_native_combine##n(do_rmw_##n(addr, operand, order, rmw, PLACE), operand, rmw);                       \
    }                                                                                                                  \
    INTERPOSE(name##_fetch_##n, "__atomic_" #name "_fetch_" #n)

#define SIZE(type, n)                                                                                                  \
    LOAD_STORE(type, n);                                                                                               \
    RMW(type, n);                                                                                                      \
    COMPARE_EXCHANGE(type, n);                                                                                         \
    FETCH(type, n, add, DH_RMW_ADD);                                                                                   \
    FETCH(type, n, sub, DH_RMW_SUB);                                                                                   \
    FETCH(type, n, and, DH_RMW_AND);                                                                                   \
    FETCH(type, n, nand, DH_RMW_NAND);                                                                                 \
    FETCH(type, n, or, DH_RMW_OR);                                                                                     \
    FETCH(type, n, xor, DH_RMW_XOR)
SIZE(uint8_t, 1);
SIZE(uint16_t, 2);
SIZE(uint32_t, 4);
SIZE(uint64_t, 8);
SIZE(dh_u128, 16);

/* ---- any other size: one lock for all variables of a cache line, as libatomic has it ---- */

enum { LOCKS = 64, LINE = 64 };
static uint32_t locks[LOCKS];

static void spin(uint32_t *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        dh_syscall6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* Of the lines that the variable touches, in order of their index; a variable may touch all of them. */
static void lock_all(uintptr_t addr, size_t size, bool take)
{
    uintptr_t first = addr / LINE, last = (addr + (size ? size - 1 : 0)) / LINE;
    for (unsigned i = 0; i < LOCKS; i++) {
        if (last - first < LOCKS - 1 && (i - first) % LOCKS > last - first)
            continue;
        if (take)
            spin(&locks[i]);
        else
            __atomic_store_n(&locks[i], 0, __ATOMIC_RELEASE);
    }
}

/* Row of a size that the machine can do at that address; -1: under the lock. */
static int machine_size(const volatile void *addr, size_t size)
{
    bool power = size && size <= 16 && !(size & (size - 1));
    return power && !((uintptr_t)addr & (size - 1)) ? __builtin_ctzl(size) : -1;
}

static bool same_bytes(const void *a, const void *b, size_t n)
{
    const char *x = a, *y = b;
    while (n && *x == *y)
        x++, y++, n--;
    return n == 0;
}

#define CASES(CASE)                                                                                                    \
    CASE(0, uint8_t, 1) CASE(1, uint16_t, 2) CASE(2, uint32_t, 4) CASE(3, uint64_t, 8) CASE(4, dh_u128, 16)

/* The caller's copies need not be aligned. */
#define GET(type, from) (((struct { type value; } __attribute__((packed, may_alias)) *)(from))->value)

static void load(size_t size, const volatile void *addr, void *out, int order)
{
    uint32_t place = PLACE;
    switch (machine_size(addr, size)) {
#define CASE(row, type, n)                                                                                             \
    case row:                                                                                                          \
        GET(type, out) = do_load_##n(addr, order, place);                                                              \
        return;
        CASES(CASE)
#undef CASE
    }
    struct dh_atomic_op op = enter(addr, DH_OP_ATOMIC_LOAD, order, size, place);
    lock_all((uintptr_t)addr, size, true);
    dh_bytes_copy(out, (const void *)addr, size);
    lock_all((uintptr_t)addr, size, false);
    leave(&op, false);
}
INTERPOSE(load, "__atomic_load");

static void store(size_t size, volatile void *addr, void *in, int order)
{
    uint32_t place = PLACE;
    switch (machine_size(addr, size)) {
#define CASE(row, type, n)                                                                                             \
    case row:                                                                                                          \
        do_store_##n(addr, GET(type, in), order, place);                                                               \
        return;
        CASES(CASE)
#undef CASE
    }
    struct dh_atomic_op op = enter(addr, DH_OP_ATOMIC_STORE, order, size, place);
    lock_all((uintptr_t)addr, size, true);
    dh_bytes_copy((void *)addr, in, size);
    lock_all((uintptr_t)addr, size, false);
    leave(&op, true);
}
INTERPOSE(store, "__atomic_store");

static void exchange(size_t size, volatile void *addr, void *in, void *out, int order)
{
    uint32_t place = PLACE;
    switch (machine_size(addr, size)) {
#define CASE(row, type, n)                                                                                             \
    case row:                                                                                                          \
        GET(type, out) = do_rmw_##n(addr, GET(type, in), order, DH_RMW_XCHG, place);                                   \
        return;
        CASES(CASE)
#undef CASE
    }
    struct dh_atomic_op op = enter(addr, DH_OP_ATOMIC_RMW, order, size, place);
    lock_all((uintptr_t)addr, size, true);
    char *variable = (char *)addr, *value = in, *old = out;
    for (size_t i = 0; i < size; i++) { /* `in` and `out` may be one */
        char was = variable[i];
        variable[i] = value[i];
        old[i] = was;
    }
    lock_all((uintptr_t)addr, size, false);
    leave(&op, true);
}
INTERPOSE(exchange, "__atomic_exchange");

static bool compare_exchange(size_t size, volatile void *addr, void *expected, void *desired, int success, int failure)
{
    uint32_t place = PLACE;
    switch (machine_size(addr, size)) {
#define CASE(row, type, n)                                                                                             \
    case row: {                                                                                                        \
        type want = GET(type, expected);                                                                               \
        bool won_##n = do_compare_exchange_##n(addr, &want, GET(type, desired), success, failure, place);              \
        if (!won_##n)                                                                                                  \
            GET(type, expected) = want;                                                                                \
        return won_##n;                                                                                                \
    }
        CASES(CASE)
#undef CASE
    }
    struct dh_atomic_op op = enter(addr, DH_OP_ATOMIC_CAS, success, size, place);
    lock_all((uintptr_t)addr, size, true);
    bool won = same_bytes((const void *)addr, expected, size);
    dh_bytes_copy(won ? (void *)addr : expected, won ? desired : (const void *)addr, size);
    lock_all((uintptr_t)addr, size, false);
    leave_cas(&op, won, failure);
    return won;
}
INTERPOSE(compare_exchange, "__atomic_compare_exchange");
