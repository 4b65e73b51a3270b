/* A race behind a loop of a million iterations under a lock. */
#include <pthread.h>

enum { TURNS = 1000000 };
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
