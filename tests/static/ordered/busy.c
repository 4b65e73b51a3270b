/* A lock of a flag and a condition, with the waiters counted. BROKEN 1: the flag is not set. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static bool busy;
static int waiters;
static struct { long in, out; } meter;

static void begin(void)
{
    pthread_mutex_lock(&m);
    waiters++;
    while (busy)
        pthread_cond_wait(&idle, &m);
    waiters--;
#if BROKEN != 1
    busy = true;
#endif
    pthread_mutex_unlock(&m);
}

static void end(void)
{
    pthread_mutex_lock(&m);
    busy = false;
    if (waiters)
        pthread_cond_signal(&idle);
    pthread_mutex_unlock(&m);
}

static void *reader(void *arg)
{
    (void)arg;
    begin();
    printf("%ld\n", meter.in - meter.out);
    end();
    return NULL;
}

static void *counter(void *arg)
{
    for (int i = 0; i < 10; i++) {
        begin();
        meter.in += (long)arg;
        meter.out++;
        end();
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, counter, (void *)1);
    pthread_create(&b, NULL, counter, (void *)2);
    pthread_create(&c, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
