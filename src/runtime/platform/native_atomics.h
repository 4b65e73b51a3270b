/* Atomic operations as the machine has them, of 1, 2, 4, 8 and 16 aligned bytes. Layer: runtime, in the executable and
 * in libraries without a runtime. Loads and read-modify-writes are sequentially consistent, which costs nothing here.
 * Needs no libatomic and no vector unit: registers of the program's stay as they are. */
#ifndef DH_RUNTIME_PLATFORM_NATIVE_ATOMICS_H
#define DH_RUNTIME_PLATFORM_NATIVE_ATOMICS_H

#include "event/hooks.h"
#include "event/site.h"

__extension__ typedef __int128 dh_i128;

static inline enum dh_order dh_what_order(uint32_t what)
{
    return (enum dh_order)(what >> 8 & 0xFF);
}

/* ---- what each kind of rmw makes of the old value ---- */

#define DH_NATIVE_COMBINE(type, signed_type, bytes)                                                                    \
    static inline type dh_native_combine##bytes(type old, type operand, uint32_t rmw)                                  \
    {                                                                                                                  \
        switch (rmw) {                                                                                                 \
        case DH_RMW_ADD:                                                                                               \
            return (type)(old + operand);                                                                              \
        case DH_RMW_SUB:                                                                                               \
            return (type)(old - operand);                                                                              \
        case DH_RMW_AND:                                                                                               \
            return old & operand;                                                                                      \
        case DH_RMW_NAND:                                                                                              \
            return (type) ~(old & operand);                                                                            \
        case DH_RMW_OR:                                                                                                \
            return old | operand;                                                                                      \
        case DH_RMW_XOR:                                                                                               \
            return old ^ operand;                                                                                      \
        case DH_RMW_MAX:                                                                                               \
            return (signed_type)old > (signed_type)operand ? old : operand;                                            \
        case DH_RMW_MIN:                                                                                               \
            return (signed_type)old < (signed_type)operand ? old : operand;                                            \
        case DH_RMW_UMAX:                                                                                              \
            return old > operand ? old : operand;                                                                      \
        case DH_RMW_UMIN:                                                                                              \
            return old < operand ? old : operand;                                                                      \
        case DH_RMW_UINC_WRAP:                                                                                         \
            return old >= operand ? 0 : (type)(old + 1);                                                               \
        case DH_RMW_UDEC_WRAP:                                                                                         \
            return old == 0 || old > operand ? operand : (type)(old - 1);                                              \
        default:                                                                                                       \
            return operand;                                                                                            \
        }                                                                                                              \
    }
DH_NATIVE_COMBINE(uint8_t, int8_t, 1)
DH_NATIVE_COMBINE(uint16_t, int16_t, 2)
DH_NATIVE_COMBINE(uint32_t, int32_t, 4)
DH_NATIVE_COMBINE(uint64_t, int64_t, 8)
DH_NATIVE_COMBINE(dh_u128, dh_i128, 16)
#undef DH_NATIVE_COMBINE

#define DH_NATIVE_LOOP(type, bytes)                                                                                    \
    static inline type dh_native_loop##bytes(void *addr, type operand, uint32_t rmw)                                   \
    {                                                                                                                  \
        type old = dh_native_load##bytes(addr), seen;                                                                  \
        while ((seen = dh_native_cas##bytes(addr, old, dh_native_combine##bytes(old, operand, rmw))) != old)           \
            old = seen;                                                                                                \
        return old;                                                                                                    \
    }

/* ---- up to eight bytes ---- */

#define DH_NATIVE(type, bytes)                                                                                         \
    static inline type dh_native_load##bytes(const void *addr)                                                         \
    {                                                                                                                  \
        return __atomic_load_n((const type *)addr, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                                                  \
    static inline void dh_native_store##bytes(void *addr, type value, uint32_t what)                                   \
    {                                                                                                                  \
        if (dh_what_order(what) == DH_ORDER_SEQ_CST)                                                                   \
            __atomic_store_n((type *)addr, value, __ATOMIC_SEQ_CST);                                                   \
        else                                                                                                           \
            __atomic_store_n((type *)addr, value, __ATOMIC_RELEASE);                                                   \
    }                                                                                                                  \
    static inline type dh_native_cas##bytes(void *addr, type expected, type desired)                                   \
    {                                                                                                                  \
        __atomic_compare_exchange_n((type *)addr, &expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
        return expected;                                                                                               \
    }                                                                                                                  \
    DH_NATIVE_LOOP(type, bytes)                                                                                        \
    static inline type dh_native_rmw##bytes(void *addr, type operand, uint32_t rmw)                                    \
    {                                                                                                                  \
        switch (rmw) {                                                                                                 \
        case DH_RMW_XCHG:                                                                                              \
            return __atomic_exchange_n((type *)addr, operand, __ATOMIC_SEQ_CST);                                       \
        case DH_RMW_ADD:                                                                                               \
            return __atomic_fetch_add((type *)addr, operand, __ATOMIC_SEQ_CST);                                        \
        case DH_RMW_SUB:                                                                                               \
            return __atomic_fetch_sub((type *)addr, operand, __ATOMIC_SEQ_CST);                                        \
        default:                                                                                                       \
            return dh_native_loop##bytes(addr, operand, rmw);                                                          \
        }                                                                                                              \
    }
DH_NATIVE(uint8_t, 1)
DH_NATIVE(uint16_t, 2)
DH_NATIVE(uint32_t, 4)
DH_NATIVE(uint64_t, 8)
#undef DH_NATIVE

/* ---- sixteen bytes: cmpxchg16b, as libatomic does it, so that both may work on one variable ---- */

static inline dh_u128 dh_native_cas16(void *addr, dh_u128 expected, dh_u128 desired)
{
    uint64_t low = (uint64_t)expected, high = (uint64_t)(expected >> 64);
    __asm__ volatile("lock cmpxchg16b %0"
                     : "+m"(*(dh_u128 *)addr), "+a"(low), "+d"(high)
                     : "b"((uint64_t)desired), "c"((uint64_t)(desired >> 64))
                     : "cc", "memory");
    return (dh_u128)high << 64 | low;
}

/* Where there is AVX, aligned 16-byte loads are atomic; they also work where memory cannot be written. */
static inline int dh_native_has_avx(void)
{
    static int known; /* 0 not asked yet, 1 no, 2 yes */
    int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!answer) {
        uint32_t a = 1, b, c = 0, d;
        __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
        answer = c >> 28 & 1 ? 2 : 1;
        __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    }
    return answer == 2;
}

static inline dh_u128 dh_native_load16(const void *addr)
{
    if (!dh_native_has_avx())
        return dh_native_cas16((void *)addr, 0, 0);
    struct {
        uint64_t low, high;
    } kept, value;
    __asm__ volatile("movdqu %%xmm0, %0\n\t"
                     "movdqa %2, %%xmm0\n\t"
                     "movdqu %%xmm0, %1\n\t"
                     "movdqu %0, %%xmm0"
                     : "=&m"(kept), "=&m"(value)
                     : "m"(*(const dh_u128 *)addr)
                     : "memory");
    return (dh_u128)value.high << 64 | value.low;
}

DH_NATIVE_LOOP(dh_u128, 16)

static inline dh_u128 dh_native_rmw16(void *addr, dh_u128 operand, uint32_t rmw)
{
    return dh_native_loop16(addr, operand, rmw);
}

static inline void dh_native_store16(void *addr, dh_u128 value, uint32_t what)
{
    (void)what;
    dh_native_loop16(addr, value, DH_RMW_XCHG);
}
#undef DH_NATIVE_LOOP

#endif
