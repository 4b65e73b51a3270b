/* A thousand threads at a time.
 * drive: --schedules=2 --strategy=random
 * expect: threads at most 1001
 * expect: ends: done 2$ */
#include <pthread.h>

enum { N = 1000 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *adds(void *unused)
{
    pthread_mutex_lock(&m);
    total++;
    pthread_mutex_unlock(&m);
    return unused;
}

int main(void)
{
    static pthread_t t[N];
    for (int i = 0; i < N; i++)
        if (pthread_create(&t[i], NULL, adds, NULL))
            return 1;
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return total != N;
}
