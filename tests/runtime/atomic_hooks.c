/* Every atomic hook, of every size and kind of operation, against what the operation means. Built as a program with the
 * runtime, and as a library in a process that has none. */
#include "by_hand.h"

#include "event/site.h"

__extension__ typedef __int128 i128;

static uint64_t state = 88172645463325252u;

static dh_u128 any(void)
{
    dh_u128 value = 0;
    for (int i = 0; i < 2; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        value = value << 64 | state;
    }
    /* Small, large and odd ones meet often enough to be equal, to wrap and to carry. */
    return state % 3 == 0 ? value % 5 : state % 3 == 1 ? -(value % 5) : value;
}

#define CHECK_SIZE(type, signed_type, n)                                                                               \
    static type meant_##n(type old, type x, unsigned rmw)                                                              \
    {                                                                                                                  \
        const type table[DH_RMW_COUNT] = {                                                                             \
            [DH_RMW_XCHG] = x,                                                                                         \
            [DH_RMW_ADD] = (type)(old + x),                                                                            \
            [DH_RMW_SUB] = (type)(old - x),                                                                            \
            [DH_RMW_AND] = old & x,                                                                                    \
            [DH_RMW_NAND] = (type) ~(old & x),                                                                         \
            [DH_RMW_OR] = old | x,                                                                                     \
            [DH_RMW_XOR] = old ^ x,                                                                                    \
            [DH_RMW_MAX] = (signed_type)old > (signed_type)x ? old : x,                                                \
            [DH_RMW_MIN] = (signed_type)old < (signed_type)x ? old : x,                                                \
            [DH_RMW_UMAX] = old > x ? old : x,                                                                         \
            [DH_RMW_UMIN] = old < x ? old : x,                                                                         \
            [DH_RMW_UINC_WRAP] = old >= x ? 0 : (type)(old + 1),                                                       \
            [DH_RMW_UDEC_WRAP] = old == 0 || old > x ? x : (type)(old - 1),                                            \
        };                                                                                                             \
        return table[rmw];                                                                                             \
    }                                                                                                                  \
    static void check_##n(uint32_t order)                                                                              \
    {                                                                                                                  \
        static struct {                                                                                                \
            _Alignas(16) type before, here, after;                                                                     \
        } v;                                                                                                           \
        uint32_t rest = order << 8 | (uint32_t)n << 16;                                                                \
        for (unsigned i = 0; i < 40 * DH_RMW_COUNT; i++) {                                                             \
            type a = (type)any(), b = (type)any(), rmw = (type)(i % DH_RMW_COUNT);                                     \
            v.before = v.after = 77;                                                                                   \
            __dh_atomic_store##n(&v.here, a, DH_OP_ATOMIC_STORE | rest, 1);                                            \
            CHECK(__dh_atomic_load##n(&v.here, DH_OP_ATOMIC_LOAD | rest, 2) == a);                                     \
            CHECK(__dh_atomic_rmw##n(&v.here, b, DH_OP_ATOMIC_RMW | rest, (uint32_t)rmw, 3) == a);                     \
            type now = meant_##n(a, b, (unsigned)rmw);                                                                 \
            CHECK(v.here == now);                                                                                      \
            CHECK(__dh_atomic_cas##n(&v.here, (type)(now + 1), b, DH_OP_ATOMIC_CAS | rest, DH_ORDER_RELAXED, 4) ==     \
                  now);                                                                                                \
            CHECK(v.here == now);                                                                                      \
            CHECK(__dh_atomic_cas##n(&v.here, now, a, DH_OP_ATOMIC_CAS | rest, DH_ORDER_NONE, 5) == now);              \
            CHECK(v.here == a && v.before == 77 && v.after == 77);                                                     \
        }                                                                                                              \
        __dh_fence(DH_OP_FENCE | order << 8, 6);                                                                       \
    }
CHECK_SIZE(uint8_t, int8_t, 1)
CHECK_SIZE(uint16_t, int16_t, 2)
CHECK_SIZE(uint32_t, int32_t, 4)
CHECK_SIZE(uint64_t, int64_t, 8)
CHECK_SIZE(dh_u128, i128, 16)

__attribute__((visibility("default"))) int check_atomics(void);
int check_atomics(void)
{
    for (uint32_t order = DH_ORDER_RELAXED; order <= DH_ORDER_SEQ_CST; order++) {
        check_1(order);
        check_2(order);
        check_4(order);
        check_8(order);
        check_16(order);
    }
    static const _Alignas(16) dh_u128 constant = 5; /* where nothing can be written */
    __dh_assembly(7);
    return __dh_atomic_load16(&constant, DH_OP_ATOMIC_LOAD | 16u << 16, 8) == 5;
}

#ifdef WITH_MAIN
int main(void)
{
    return check_atomics() ? 0 : 1;
}
#endif
