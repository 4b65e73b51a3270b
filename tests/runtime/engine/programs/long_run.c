/* A race behind a loop of 100,000 iterations under a lock: schedules begin where both threads are close to it, and are
 * replayed from the first step.
 * drive: --start=1 --extend --schedules=400 --strategy=random --look-for=race
 * expect: begun at step 3[89]\d{4} of 40\d{4}$
 * expect: found race: schedule \d+, \d{1,3} decisions
 * replay: found race */
#include <pthread.h>

enum { TURNS = 100000 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long counted;
static int late;

static void *counts(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&m);
        counted++;
        pthread_mutex_unlock(&m);
    }
    late++;
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, counts, NULL);
    pthread_create(&b, NULL, counts, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return counted != 2 * TURNS;
}
