/* More than a reader keeps up with: random writes, a lock now and then. Says when it has begun. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int *data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static int rounds;

static void *writer(void *seed)
{
    unsigned x = (unsigned)(long)seed;
    for (int i = 0; i < rounds; i++) {
        x = x * 1664525 + 1013904223;
        data[x >> 12]++;
        if (i % 16 == 0) {
            pthread_mutex_lock(&mutex);
            sum++;
            pthread_mutex_unlock(&mutex);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    rounds = argc > 1 ? atoi(argv[1]) : 1600000;
    puts("begun");
    fflush(stdout);
    data = malloc(4 << 20);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, writer, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", sum);
    return 0;
}
