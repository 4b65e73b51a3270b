/* Many threads, one after the other and at once: counts that a lock guards come out right, whatever is served. One more
 * that nothing guards is a statistic; what it says does not matter. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long guarded, statistic;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;

static void work(void)
{
    pthread_mutex_lock(&lock);
    guarded = guarded + 1;
    pthread_mutex_unlock(&lock);
    statistic = statistic + 1;
}

static void *comer(void *unused)
{
    work();
    return unused;
}

static void *member(void *unused)
{
    pthread_barrier_wait(&all);
    work();
    return unused;
}

int main(int argc, char **argv)
{
    int comers = argc > 1 ? atoi(argv[1]) : 100, members = argc > 2 ? atoi(argv[2]) : 50;
    pthread_t *threads = calloc((size_t)members, sizeof *threads);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (int i = 0; i < comers; i++) {
        pthread_create(&threads[0], &small, comer, NULL);
        if (i % 3)
            pthread_join(threads[0], NULL);
        else
            pthread_detach(threads[0]);
    }
    pthread_barrier_init(&all, NULL, (unsigned)members);
    for (int i = 0; i < members; i++)
        pthread_create(&threads[i], &small, member, NULL);
    for (int i = 0; i < members; i++)
        pthread_join(threads[i], NULL);
    for (;;) { /* the detached ones */
        pthread_mutex_lock(&lock);
        long now = guarded;
        pthread_mutex_unlock(&lock);
        if (now == comers + members)
            break;
    }
    printf("%d\n", comers + members);
    free(threads);
    return statistic < 0;
}
