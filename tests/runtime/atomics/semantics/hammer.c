// Three threads at once on variables of every size: nothing is lost, whatever the operation and the order.
// FLAGS: -pthread -latomic
// RIGHT: -mcx16
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 2000 };
typedef unsigned __int128 u128;

#define SIZE(type, n)                                                                                                  \
    static type added_##n, looped_##n, toggled_##n, anded_##n, owner_##n, ored_##n, biggest_##n;                       \
    static uint64_t failed_##n;                                                                                        \
    static void work_##n(unsigned me, unsigned i)                                                                      \
    {                                                                                                                  \
        __atomic_fetch_add(&added_##n, (type)(me + 1), i % 2 ? __ATOMIC_RELAXED : __ATOMIC_ACQ_REL);                   \
        type old = __atomic_load_n(&looped_##n, __ATOMIC_RELAXED);                                                     \
        while (!__atomic_compare_exchange_n(&looped_##n, &old, (type)(old + 1), i % 2, __ATOMIC_RELEASE,               \
                                            __ATOMIC_RELAXED))                                                         \
            ;                                                                                                          \
        __atomic_fetch_xor(&toggled_##n, (type)(1u << me), __ATOMIC_SEQ_CST);                                          \
        __atomic_fetch_or(&ored_##n, (type)(1u << (i % 8)), __ATOMIC_RELAXED);                                         \
        __atomic_fetch_and(&anded_##n, (type) ~(type)(1u << me), __ATOMIC_ACQUIRE);                                    \
        if (__atomic_exchange_n(&owner_##n, (type)1, __ATOMIC_ACQUIRE) == 0) {                                         \
            failed_##n += __atomic_load_n(&owner_##n, __ATOMIC_RELAXED) != 1;                                          \
            __atomic_store_n(&owner_##n, (type)0, __ATOMIC_RELEASE);                                                   \
        }                                                                                                              \
        type seen = __atomic_load_n(&biggest_##n, __ATOMIC_ACQUIRE), want = (type)(i % 100);                           \
        while (seen < want &&                                                                                          \
               !__atomic_compare_exchange_n(&biggest_##n, &seen, want, 1, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))         \
            ;                                                                                                          \
    }                                                                                                                  \
    static void show_##n(void)                                                                                         \
    {                                                                                                                  \
        printf("%d: %lx %lx %lx %lx %lx %lx %lu\n", n, (unsigned long)added_##n, (unsigned long)looped_##n,            \
               (unsigned long)toggled_##n, (unsigned long)anded_##n, (unsigned long)ored_##n,                          \
               (unsigned long)biggest_##n, (unsigned long)failed_##n);                                                 \
    }
SIZE(uint8_t, 1)
SIZE(uint16_t, 2)
SIZE(uint32_t, 4)
SIZE(uint64_t, 8)
SIZE(u128, 16)

static void *worker(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg;
    for (unsigned i = 0; i < ROUNDS; i++) {
        work_1(me, i);
        work_2(me, i);
        work_4(me, i);
        work_8(me, i);
        work_16(me, i);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    anded_1 = anded_2 = 0xFF, anded_4 = anded_8 = 0xFFFFFF, anded_16 = (u128)-1;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    show_1(), show_2(), show_4(), show_8(), show_16();
    return 0;
}
