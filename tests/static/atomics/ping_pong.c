// suspect: ball
// Two take turns by one flag; broken: both wait for the same value.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int side;
static int ball;

static void wait_for(int value)
{
    while (atomic_load_explicit(&side, memory_order_acquire) != value)
        sched_yield();
}

static void *ping(void *arg)
{
    for (int i = 0; i < 10; i++) {
        while (atomic_load_explicit(&side, memory_order_acquire) != 0)
            sched_yield();
        ball++;
        atomic_store_explicit(&side, 1, memory_order_release);
    }
    return arg;
}

static void *pong(void *arg)
{
    for (int i = 0; i < 10; i++) {
#ifdef BROKEN
        while (atomic_load_explicit(&side, memory_order_acquire) != 0)
#else
        while (atomic_load_explicit(&side, memory_order_acquire) != 1)
#endif
            sched_yield();
        ball--;
        atomic_store_explicit(&side, 0, memory_order_release);
    }
    wait_for(0);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, ping, 0);
    pthread_create(&b, 0, pong, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return ball;
}
