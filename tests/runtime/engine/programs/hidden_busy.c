/* Of two racing variables one is accessed so often that its steps would leave no time for the other: its places are
 * spared, and the schedules found replay without them.
 * drive: --only-visible --spare-busy --schedules=20 --strategy=active --look-for=race --start=2 --start-least=50
 * visible: last busy
 * expect: spared: 2 places
 * expect: depth at most \d{1,3},
 * expect: found race
 * replay: found race */
#include <pthread.h>

enum { TURNS = 40, TIMES = 2000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int last, busy, turns;

static __attribute__((noinline)) void count(void)
{
    busy++;
}

static void *worker(void *unused)
{
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < TIMES; i++)
            count();
        pthread_mutex_lock(&lock);
        turns++;
        pthread_mutex_unlock(&lock);
    }
    last = 1;
    return unused;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return turns != 2 * TURNS;
}
