/* What time has passed since before the first thread, and with it what the thread does, is the same in every run.
 * drive: --schedules=10 --no-races
 * expect: found assertion
 * replay: found assertion */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static struct timespec start;
static atomic_int turns;

static void *works(void *a)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long passed = (now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec;
    for (long i = (passed ^ time(NULL)) % 101; i >= 0; i--)
        atomic_fetch_add(&turns, 1);
    abort();
    return a;
}

int main(void)
{
    pthread_t t;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (volatile int i = 0; i < 100000; i++)
        ;
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
}
