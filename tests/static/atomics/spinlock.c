// suspect: count
// A lock in the style of small kernels, in the object that it guards; broken: given back without release.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef BROKEN
#define GIVE memory_order_relaxed
#else
#define GIVE memory_order_release
#endif

typedef struct {
    atomic_flag busy;
} spinlock_t;

struct counter {
    spinlock_t lock;
    long count;
};

static inline void spin_lock(spinlock_t *l)
{
    while (atomic_flag_test_and_set_explicit(&l->busy, memory_order_acquire))
        __builtin_ia32_pause();
}

static inline void spin_unlock(spinlock_t *l)
{
    atomic_flag_clear_explicit(&l->busy, GIVE);
}

static void *worker(void *arg)
{
    struct counter *c = arg;
    for (int i = 0; i < 1000; i++) {
        spin_lock(&c->lock);
        c->count++;
        spin_unlock(&c->lock);
    }
    return 0;
}

int main(void)
{
    pthread_t t[4];
    struct counter *c = calloc(1, sizeof *c);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, worker, c);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    return c->count != 4000;
}
