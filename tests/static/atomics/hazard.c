// suspect: price
// One slot is filled again only when the reader has said that it is done with it; broken: the writer does not wait for that.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static struct quote {
    long price;
} quote;
static atomic_long published, consumed;

static void *feed(void *arg)
{
    for (long i = 1; i < 100; i++) {
#ifndef BROKEN
        while (atomic_load_explicit(&consumed, memory_order_acquire) != i - 1)
            sched_yield();
#endif
        quote.price = 100 + i;
        atomic_store_explicit(&published, i, memory_order_release);
    }
    return arg;
}

static void *trader(void *arg)
{
    long sum = 0;
    for (long i = 1; i < 100; i++) {
        while (atomic_load_explicit(&published, memory_order_acquire) < i)
            sched_yield();
        sum += quote.price;
        atomic_store_explicit(&consumed, i, memory_order_release);
    }
    return (char *)arg + sum;
}

int main(void)
{
    pthread_t f, t;
    pthread_create(&f, 0, feed, 0);
    pthread_create(&t, 0, trader, 0);
    pthread_join(f, 0);
    pthread_join(t, 0);
    return 0;
}
