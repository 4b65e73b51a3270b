/* Who is in a section waits for another thread that comes to one of the same variable: to let the first out before the
 * second goes on must not last. The order is given, so the result is always 1. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>

static long x;
static sem_t go;
static atomic_int done;

static void *first(void *unused)
{
    long before = x;
    sem_post(&go);
    while (!atomic_load(&done))
        sched_yield();
    x = before + 1;
    return unused;
}

static void *second(void *unused)
{
    sem_wait(&go);
    long before = x;
    x = before + 10;
    atomic_store(&done, 1);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 30; i++) {
        x = 0;
        atomic_store(&done, 0);
        sem_init(&go, 0, 0);
        pthread_create(&a, NULL, first, NULL);
        pthread_create(&b, NULL, second, NULL);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        if (x != 1)
            return printf("FAILED: %ld\n", x), 1;
    }
    puts("ok");
    return 0;
}
