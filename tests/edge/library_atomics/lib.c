#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

typedef unsigned __int128 u128;

#define SIZE(type, n)                                                                                                  \
    static type sum_##n, swapped_##n, least_##n = (type) - 1, bits_##n;                                                \
    static void work_##n(int i)                                                                                        \
    {                                                                                                                  \
        __atomic_fetch_add(&sum_##n, 3, __ATOMIC_RELAXED);                                                             \
        type old = __atomic_load_n(&swapped_##n, __ATOMIC_ACQUIRE);                                                    \
        while (                                                                                                        \
            !__atomic_compare_exchange_n(&swapped_##n, &old, (type)(old + 1), 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))  \
            ;                                                                                                          \
        type seen = __atomic_load_n(&least_##n, __ATOMIC_RELAXED), mine = (type)(250 - i % 200);                       \
        while (mine < seen &&                                                                                          \
               !__atomic_compare_exchange_n(&least_##n, &seen, mine, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))           \
            ;                                                                                                          \
        __atomic_fetch_or(&bits_##n, (type)(1 << i % 7), __ATOMIC_RELEASE);                                            \
        __atomic_fetch_nand(&bits_##n, (type)0, __ATOMIC_RELAXED);                                                     \
    }                                                                                                                  \
    static void show_##n(void)                                                                                         \
    {                                                                                                                  \
        type was = __atomic_exchange_n(&bits_##n, (type)0x55, __ATOMIC_SEQ_CST);                                       \
        __atomic_store_n(&least_##n, (type)(least_##n + 1), __ATOMIC_SEQ_CST);                                         \
        printf("%d: %lx %lx %lx %lx %lx\n", n, (long)sum_##n, (long)swapped_##n, (long)least_##n, (long)was,           \
               (long)bits_##n);                                                                                        \
    }
SIZE(uint8_t, 1)
SIZE(uint16_t, 2)
SIZE(uint32_t, 4)
SIZE(uint64_t, 8)
SIZE(u128, 16)
static float real;
static _Atomic double product = 1;

static void *worker(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        work_1(i), work_2(i), work_4(i), work_8(i), work_16(i);
        __atomic_fetch_add(&real, 0.5f, __ATOMIC_RELAXED);
    }
    product *= 2;
    atomic_thread_fence(memory_order_seq_cst);
    return arg;
}

void lib_work(void);
void lib_work(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    show_1(), show_2(), show_4(), show_8(), show_16();
    printf("%g %g\n", (double)real, (double)product);
}
