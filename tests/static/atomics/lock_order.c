// suspect: deadlock
// Two locks made by hand are always taken in one order; broken: not by everybody.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int left, right;
static int forks;

static void take(atomic_int *l)
{
    while (atomic_exchange_explicit(l, 1, memory_order_acquire))
        ;
}

static void give(atomic_int *l)
{
    atomic_store_explicit(l, 0, memory_order_release);
}

static void *one(void *arg)
{
    take(&left);
    take(&right);
    forks++;
    give(&right);
    give(&left);
    return arg;
}

static void *other(void *arg)
{
#ifdef BROKEN
    take(&right);
    take(&left);
#else
    take(&left);
    take(&right);
#endif
    forks--;
    give(&right);
    give(&left);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, other, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return forks;
}
