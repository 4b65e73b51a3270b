// 16-byte atomics as instructions (cmpxchg16b): load, store, exchange, add, compare-exchange from two threads.
// FLAGS: -mcx16 -pthread -latomic
// NEEDS: cx16
#include <pthread.h>
#include <stdio.h>

typedef unsigned __int128 u128;
static u128 shared __attribute__((aligned(16)));

static void *worker(void *arg)
{
    u128 step = ((u128)1 << 64) | (u128)(unsigned long)arg;
    for (int i = 0; i < 2000; i++) {
        u128 old = __atomic_load_n(&shared, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&shared, &old, old + step, i & 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            ;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, (void *)3);
    pthread_create(&b, NULL, worker, (void *)4);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    u128 v = __atomic_load_n(&shared, __ATOMIC_SEQ_CST);
    printf("%lu %lu\n", (unsigned long)(v >> 64), (unsigned long)v);
    __atomic_store_n(&shared, v * 3, __ATOMIC_RELEASE);
    v = __atomic_exchange_n(&shared, (u128)-1, __ATOMIC_ACQ_REL);
    printf("%lu %lu\n", (unsigned long)(v >> 64), (unsigned long)v);
    v = __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
    printf("%lx %d\n", (unsigned long)(v >> 64), shared == 0);
    return 0;
}
