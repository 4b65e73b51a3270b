/* The cook takes an order, waits if there is none, and only then locks the kitchen, which the waiter needs before he
 * brings his order.
 * Expected: nothing. Beside: lockset. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t kitchen = PTHREAD_MUTEX_INITIALIZER, list = PTHREAD_MUTEX_INITIALIZER;
static atomic_int brought;
static pthread_cond_t ordered = PTHREAD_COND_INITIALIZER;
static int orders, plates;

static void *waiter(void *arg)
{
    pthread_mutex_lock(&kitchen);
    plates++;
    pthread_mutex_unlock(&kitchen);
    pthread_mutex_lock(&list);
    orders++;
    pthread_cond_signal(&ordered);
    pthread_mutex_unlock(&list);
    atomic_store_explicit(&brought, 1, memory_order_relaxed);
    return arg;
}

static void take_order(void)
{
    pthread_mutex_lock(&list);
    while (orders == 0)
        pthread_cond_wait(&ordered, &list);
    orders--;
    pthread_mutex_unlock(&list);
}

static void *cook(void *arg)
{
    while (!atomic_load_explicit(&brought, memory_order_relaxed))
        sched_yield();
    take_order();
    pthread_mutex_lock(&kitchen);
    plates--;
    pthread_mutex_unlock(&kitchen);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, waiter, NULL);
    pthread_create(&threads[1], NULL, cook, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d plates\n", plates);
    return 0;
}
