// suspect: stock
// A semaphore of one atomic around a shop's stock; broken: it is posted without release.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#ifdef BROKEN
#define POST memory_order_relaxed
#else
#define POST memory_order_release
#endif

static atomic_int tokens = 1;
static int stock = 100;

static void sem_down(atomic_int *s)
{
    for (;;) {
        int now = atomic_load_explicit(s, memory_order_relaxed);
        if (now > 0 && atomic_compare_exchange_weak_explicit(s, &now, now - 1, memory_order_acquire,
                                                             memory_order_relaxed))
            return;
        sched_yield();
    }
}

static void sem_up(atomic_int *s)
{
    atomic_fetch_add_explicit(s, 1, POST);
}

static void *customer(void *arg)
{
    for (int i = 0; i < 10; i++) {
        sem_down(&tokens);
        stock--;
        sem_up(&tokens);
    }
    return arg;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, customer, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
    return stock != 70;
}
