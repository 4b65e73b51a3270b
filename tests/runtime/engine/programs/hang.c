/* Whoever reads the flag before it is set waits for something that never comes again.
 * drive: --schedules=60 --no-races
 * expect: found hang
 * expect: ends: done [1-9]
 * replay: found hang */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag, seen;

static void *waiter(void *a)
{
    atomic_store(&seen, 1);
    while (atomic_load(&flag) != 1)
        ;
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    atomic_store(&flag, 1);
    if (!atomic_load(&seen))
        atomic_store(&flag, 2);
    pthread_join(t, 0);
}
