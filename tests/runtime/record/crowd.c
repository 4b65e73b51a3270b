/* Many threads at once, and one lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_here;
static long shared;

static void *member(void *unused)
{
    pthread_barrier_wait(&all_here);
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mutex);
        shared++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200;
    pthread_t *threads = malloc((size_t)n * sizeof *threads);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all_here, NULL, (unsigned)n);
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], &small, member, NULL);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", shared);
    return 0;
}
