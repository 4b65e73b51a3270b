/* A guest looks whether there is a waiter and calls him; meanwhile the waiter may go home. Each does it under a lock of
 * his own, and the guests' lock is all that orders this run, so no run need show it: two steps that belong together,
 * and nothing keeps the waiter's leaving from coming between.
 * Expected: a suspected atomicity on `waiter` */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

struct person {
    int calls;
};

static struct person hans;
static struct person *waiter = &hans;
static pthread_mutex_t guests = PTHREAD_MUTEX_INITIALIZER, staff = PTHREAD_MUTEX_INITIALIZER;
static atomic_int called;

static void *guest(void *arg)
{
    pthread_mutex_lock(&guests);
    if (waiter)
        waiter->calls++;
    pthread_mutex_unlock(&guests);
    atomic_store_explicit(&called, 1, memory_order_relaxed);
    return arg;
}

static void *leave(void *arg)
{
    while (!atomic_load_explicit(&called, memory_order_relaxed))
        sched_yield();
    pthread_mutex_lock(&guests);
    pthread_mutex_unlock(&guests);
    pthread_mutex_lock(&staff);
    waiter = NULL;
    pthread_mutex_unlock(&staff);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, guest, NULL);
    pthread_create(&threads[1], NULL, leave, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("called %d times\n", hans.calls);
    return 0;
}
