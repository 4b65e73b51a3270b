// Every operation of 1, 2, 4, 8 and 16 bytes with every order, one after the other: old values and results.
// FLAGS: -latomic
// RIGHT: -mcx16
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

typedef unsigned __int128 u128;
typedef __int128 i128;
static uint64_t digest = 14695981039346656037u;

static void note(u128 value)
{
    for (int i = 0; i < 16; i++, value >>= 8)
        digest = (digest ^ (uint8_t)value) * 1099511628211u;
}

#define ORDERS(DO, ...)                                                                                                \
    DO(__ATOMIC_RELAXED, __VA_ARGS__)                                                                                  \
    DO(__ATOMIC_CONSUME, __VA_ARGS__)                                                                                  \
    DO(__ATOMIC_ACQUIRE, __VA_ARGS__)                                                                                  \
    DO(__ATOMIC_RELEASE, __VA_ARGS__)                                                                                  \
    DO(__ATOMIC_ACQ_REL, __VA_ARGS__)                                                                                  \
    DO(__ATOMIC_SEQ_CST, __VA_ARGS__)

#define RMW(order, type, x)                                                                                            \
    note((u128)__atomic_exchange_n(&x, (type)0x5Au, order));                                                           \
    note((u128)__atomic_fetch_add(&x, (type)0x77u, order));                                                            \
    note((u128)__atomic_fetch_sub(&x, (type)0xF1u, order));                                                            \
    note((u128)__atomic_fetch_and(&x, (type) ~(type)0x11u, order));                                                    \
    note((u128)__atomic_fetch_or(&x, (type)0x41u, order));                                                             \
    note((u128)__atomic_fetch_xor(&x, (type)0x8Fu, order));                                                            \
    note((u128)__atomic_fetch_nand(&x, (type)0x3Cu, order));                                                           \
    note((u128)__atomic_add_fetch(&x, (type)1, order));                                                                \
    note((u128)__atomic_nand_fetch(&x, (type)0x2Du, order));                                                           \
    note((u128)__atomic_sub_fetch(&x, (type)3, order));

#define MINMAX(order, type, x)                                                                                         \
    note((u128)__atomic_fetch_max(&x, (type) - 100, order));                                                           \
    note((u128)__atomic_fetch_max(&x, (type)100, order));                                                              \
    note((u128)__atomic_fetch_min(&x, (type) - 3, order));                                                             \
    note((u128)__atomic_fetch_min(&x, (type)7, order));                                                                \
    note((u128)__atomic_load_n(&x, __ATOMIC_RELAXED));

#define CAS(success, type, x, failure)                                                                                 \
    {                                                                                                                  \
        type e = (type)(x + 1);                                                                                        \
        note(__atomic_compare_exchange_n(&x, &e, (type)9, 0, success, failure));                                       \
        note((u128)e);                                                                                                 \
        note(__atomic_compare_exchange_n(&x, &e, (type)(e * 3 + 1), 0, success, failure));                             \
        note((u128)x);                                                                                                 \
    }
#define CASES(type, x)                                                                                                 \
    ORDERS(CAS, type, x, __ATOMIC_RELAXED)                                                                             \
    ORDERS(CAS, type, x, __ATOMIC_CONSUME)                                                                             \
    ORDERS(CAS, type, x, __ATOMIC_ACQUIRE)                                                                             \
    ORDERS(CAS, type, x, __ATOMIC_SEQ_CST)

#define TRY(name, type, have_minmax)                                                                                   \
    type name##_x = 3;                                                                                                 \
    volatile type name##_v = 5;                                                                                        \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        ORDERS(RMW, type, name##_x)                                                                                    \
        ORDERS(RMW, type, name##_v)                                                                                    \
        have_minmax(type, name##_x) CASES(type, name##_x) CASES(type, name##_v)                                        \
            note((u128)__atomic_load_n(&name##_x, __ATOMIC_RELAXED));                                                  \
        note((u128)__atomic_load_n(&name##_x, __ATOMIC_CONSUME));                                                      \
        note((u128)__atomic_load_n(&name##_x, __ATOMIC_ACQUIRE));                                                      \
        note((u128)__atomic_load_n(&name##_v, __ATOMIC_SEQ_CST));                                                      \
        __atomic_store_n(&name##_x, (type)0xA5u, __ATOMIC_RELAXED);                                                    \
        note((u128)name##_x);                                                                                          \
        __atomic_store_n(&name##_x, (type)(name##_x * 7), __ATOMIC_RELEASE);                                           \
        note((u128)name##_x);                                                                                          \
        __atomic_store_n(&name##_v, (type)(name##_x * 11), __ATOMIC_SEQ_CST);                                          \
        note((u128)name##_v);                                                                                          \
        printf("%-5s %016lx\n", #name, (unsigned long)digest);                                                         \
    }
#define WITH(type, x) ORDERS(MINMAX, type, x)
#define WITHOUT(type, x)
TRY(u8, uint8_t, WITH)
TRY(s8, int8_t, WITH)
TRY(u16, uint16_t, WITH)
TRY(s16, int16_t, WITH)
TRY(u32, uint32_t, WITH)
TRY(s32, int32_t, WITH)
TRY(u64, uint64_t, WITH)
TRY(s64, int64_t, WITH)
TRY(w128, u128, WITHOUT)
TRY(s128, i128, WITHOUT)

int main(void)
{
    u8(), s8(), u16(), s16(), u32(), s32(), u64(), s64(), w128(), s128();
    return 0;
}
