/* Hooks of atomic operations. The operation is performed here, between enter and leave of the detectors, so that no
 * other thread's operation on the variable comes between its value and its clock. */
#include "runtime/core/public_hooks.h"

#include "runtime/consistency/scopes.h"
#include "runtime/core/hook_table.h"
#include "runtime/engine/primitives/primitives.h"
#include "runtime/platform/native_atomics.h"
#include "runtime/stale/stale.h"
#include "runtime/sync/sync.h"

#include <stdatomic.h>

static inline struct dh_atomic_op enter(const void *addr, uint32_t what, uint32_t place)
{
    struct dh_atomic_op op = {.addr = (uintptr_t)addr, .what = what, .place = place};
    /* A bad address faults here, where nothing is locked: the program's handler may jump away and go on. */
    (void)*(const volatile uint8_t *)addr;
    dh_atomic_enter(&op);
    return op;
}

/* A compare-exchange that failed is a load with the failure order. */
static inline void leave_cas(struct dh_atomic_op *op, bool won, uint32_t failure)
{
    if (!won)
        op->what = (op->what & ~0xFF00u) | failure << 8;
    dh_atomic_leave(op, won);
}

/* Only the consistency detector is on: a value that was acquired before orders nothing new. */
static inline bool only_scopes(uint32_t what)
{
    enum dh_order order = dh_what_order(what);
    return __builtin_expect(__dh_thread.scope_thread != NULL, 0) && !__dh_thread.race && !__dh_thread.record &&
           (order == DH_ORDER_ACQUIRE || order == DH_ORDER_SEQ_CST) && !dh_engine_on;
}

#define HOOKS(type, bytes)                                                                                             \
    type __dh_atomic_load##bytes(const void *addr, uint32_t what, uint32_t place)                                      \
    {                                                                                                                  \
        uint64_t known;                                                                                                \
        if (__builtin_expect(what & DH_STALE_CHOSEN, 0))                                                               \
            return (type)dh_stale_atomic_load(addr, what, place);                                                      \
        const _Atomic uint64_t *version = dh_atomic_known(addr, what, &known);                                         \
        type value = version ? dh_native_load##bytes(addr) : 0;                                                        \
        if (version && atomic_load_explicit(version, memory_order_acquire) == known)                                   \
            return value;                                                                                              \
        bool scopes = only_scopes(what);                                                                               \
        uint64_t before = scopes ? dh_scopes_atomic_version((uintptr_t)addr) : 0;                                      \
        if (scopes &&                                                                                                  \
            dh_scopes_atomic_is_known((uintptr_t)addr, before, (uint64_t)(value = dh_native_load##bytes(addr))))       \
            return value;                                                                                              \
        struct dh_atomic_op op = enter(addr, what, place);                                                             \
        value = dh_native_load##bytes(addr);                                                                           \
        dh_atomic_leave(&op, false);                                                                                   \
        if (scopes)                                                                                                    \
            dh_scopes_atomic_learn((uintptr_t)addr, before, (uint64_t)value);                                          \
        return value;                                                                                                  \
    }                                                                                                                  \
    void __dh_atomic_store##bytes(void *addr, type value, uint32_t what, uint32_t place)                               \
    {                                                                                                                  \
        if (__builtin_expect(what & DH_STALE_CHOSEN, 0)) {                                                             \
            dh_stale_atomic_store(addr, (uint64_t)value, what, place);                                                 \
            return;                                                                                                    \
        }                                                                                                              \
        struct dh_atomic_op op = enter(addr, what, place);                                                             \
        dh_native_store##bytes(addr, value, what);                                                                     \
        dh_atomic_leave(&op, true);                                                                                    \
    }                                                                                                                  \
    type __dh_atomic_rmw##bytes(void *addr, type operand, uint32_t what, uint32_t rmw, uint32_t place)                 \
    {                                                                                                                  \
        if (__builtin_expect(what & DH_STALE_CHOSEN, 0))                                                               \
            return (type)dh_stale_atomic_rmw(addr, (uint64_t)operand, what, rmw, place);                               \
        struct dh_atomic_op op = enter(addr, what, place);                                                             \
        type old = dh_native_rmw##bytes(addr, operand, rmw);                                                           \
        dh_atomic_leave(&op, true);                                                                                    \
        return old;                                                                                                    \
    }                                                                                                                  \
    type __dh_atomic_cas##bytes(void *addr, type expected, type desired, uint32_t what, uint32_t failure,              \
                                uint32_t place)                                                                        \
    {                                                                                                                  \
        if (__builtin_expect(what & DH_STALE_CHOSEN, 0))                                                               \
            return (type)dh_stale_atomic_cas(addr, (uint64_t)expected, (uint64_t)desired, what, failure, place);       \
        struct dh_atomic_op op = enter(addr, what, place);                                                             \
        type old = dh_native_cas##bytes(addr, expected, desired);                                                      \
        leave_cas(&op, old == expected, failure);                                                                      \
        return old;                                                                                                    \
    }
HOOKS(uint8_t, 1)
HOOKS(uint16_t, 2)
HOOKS(uint32_t, 4)
HOOKS(uint64_t, 8)
HOOKS(dh_u128, 16)

void __dh_fence(uint32_t what, uint32_t place)
{
    __dh_thread.place = place; /* as of a call */
    if (__builtin_expect(dh_engine_on, 0))
        dh_engine_fence(dh_what_order(what), place);
    dh_atomic_fence(dh_what_order(what));
}
