// suspect: block
// References dropped with release, and an acquire fence for the last one only; broken: the fence is missing.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct block {
    atomic_int users;
    long sum[4];
};

static long drop(struct block *b)
{
    long all = 0;
    if (atomic_fetch_sub_explicit(&b->users, 1, memory_order_release) != 1)
        return 0;
#ifndef BROKEN
    atomic_thread_fence(memory_order_acquire);
#endif
    for (int i = 0; i < 4; i++)
        all += b->sum[i];
    free(b);
    return all;
}

static void *one(void *arg)
{
    struct block *b = arg;
    b->sum[0] = 1;
    return (void *)drop(b);
}

static void *other(void *arg)
{
    struct block *b = arg;
    b->sum[2] = 2;
    return (void *)drop(b);
}

int main(void)
{
    pthread_t a, b;
    struct block *shared = calloc(1, sizeof *shared);
    atomic_init(&shared->users, 2);
    pthread_create(&a, 0, one, shared);
    pthread_create(&b, 0, other, shared);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
