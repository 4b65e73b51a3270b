/* A queue whose length is counted without the lock, and a condition wait inside of what looks like a section. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int available;
static long taken, put;
static void *consumer(void *n)
{
    for (long i = 0; i < (long)n; i++) {
        pthread_mutex_lock(&lock);
        while (!available)
            pthread_cond_wait(&filled, &lock);
        available--;
        pthread_mutex_unlock(&lock);
        taken++;
    }
    return NULL;
}
static void *producer(void *n)
{
    for (long i = 0; i < (long)n; i++) {
        put++;
        pthread_mutex_lock(&lock);
        available++;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 40;
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, i % 2 ? producer : consumer, (void *)n);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    int ok = taken == 2 * n && put == 2 * n;
    printf(ok ? "ok\n" : "FAILED: put %ld taken %ld of %ld\n", put, taken, 2 * n);
    return !ok;
}
