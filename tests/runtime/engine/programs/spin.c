/* Spin loops on atomics and on volatile data make progress: nothing is wrong here, whoever is chosen.
 * drive: --schedules=500 --no-races
 * expect: ends: done 500( unordered \d+)?$ */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int ticket, serving, ready;
static volatile int go;
static int inside;

static void *worker(void *a)
{
    while (!go)
        ;
    for (int i = 0; i < 3; i++) {
        int mine = atomic_fetch_add(&ticket, 1);
        while (atomic_load(&serving) != mine)
            ;
        if (++inside != 1)
            __builtin_trap();
        inside--;
        atomic_fetch_add(&serving, 1);
    }
    int expected = 0;
    while (!atomic_compare_exchange_weak(&ready, &expected, 1))
        expected = 0;
    atomic_store(&ready, 0);
    return a;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], 0, worker, 0);
    go = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], 0);
}
