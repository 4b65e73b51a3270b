// suspect: shared_sum
// A ticket lock; broken: whoever waits does so without acquire.
#include <pthread.h>
#include <stdatomic.h>

#ifdef BROKEN
#define LOOK memory_order_relaxed
#else
#define LOOK memory_order_acquire
#endif

struct ticket_lock {
    atomic_uint next, serving;
};

static struct ticket_lock desk;
static long shared_sum;

static void ticket_lock(struct ticket_lock *l)
{
    unsigned mine = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&l->serving, LOOK) != mine)
        ;
}

static void ticket_unlock(struct ticket_lock *l)
{
    unsigned now = atomic_load_explicit(&l->serving, memory_order_relaxed);
    atomic_store_explicit(&l->serving, now + 1, memory_order_release);
}

static void *adder(void *arg)
{
    for (long i = 0; i < 100; i++) {
        ticket_lock(&desk);
        shared_sum += i;
        ticket_unlock(&desk);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, adder, 0);
    pthread_create(&b, 0, adder, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
