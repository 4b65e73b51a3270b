// Odd sizes and poor alignment, which compilers leave to libatomic: three threads, nothing torn, nothing lost.
// FLAGS: -pthread -latomic -Wno-atomic-alignment
// RIGHT: -mcx16
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct three {
    unsigned char c[3];
    unsigned char rest; /* what is padding has no value that a compare-exchange could rely on */
};
struct wide {
    long count, twice, spare[10];
};
static _Atomic struct three small;
static _Atomic struct wide large;
static struct __attribute__((packed)) {
    char offset;
    unsigned crooked;
    struct wide far;
} packed_up;
static int torn;

static void bump_small(void)
{
    struct three old = atomic_load(&small), next;
    do {
        next = old;
        for (int i = 0; i < 3 && ++next.c[i] == 0; i++)
            ;
    } while (!atomic_compare_exchange_weak(&small, &old, next));
}

static void bump_large(void)
{
    struct wide old = atomic_load_explicit(&large, memory_order_acquire), next;
    do {
        if (old.twice != 2 * old.count || old.spare[9] != old.count)
            __atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
        next = old;
        next.count++;
        next.twice += 2;
        next.spare[9]++;
    } while (!atomic_compare_exchange_strong_explicit(&large, &old, next, memory_order_acq_rel, memory_order_relaxed));
}

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        bump_small();
        bump_large();
        unsigned *crooked = &packed_up.crooked;
        __atomic_fetch_add(crooked, 3, __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    struct three s = small;
    struct wide w = atomic_exchange(&large, ((struct wide){.count = 1})), now;
    printf("%d %ld %ld %ld %u %d\n", s.c[0] | s.c[1] << 8 | s.c[2] << 16, w.count, w.twice, w.spare[9],
           packed_up.crooked, torn);
    __atomic_store(&packed_up.far, &w, __ATOMIC_SEQ_CST);
    __atomic_load(&packed_up.far, &now, __ATOMIC_SEQ_CST);
    printf("%d %d %d\n", !memcmp(&now, &w, sizeof w), __atomic_is_lock_free(8, 0), __atomic_is_lock_free(24, 0));
    return 0;
}
