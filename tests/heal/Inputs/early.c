/* The worker may come before what it reads is there: no lock puts that right, only that it waits. With -DHELD it would
 * wait with a lock that main needs on its way. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct config { int size; int limit; };
static struct config *config;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void hold(void)
{
#ifdef HELD
    pthread_mutex_lock(&lock);
#endif
}

static void give(void)
{
#ifdef HELD
    pthread_mutex_unlock(&lock);
#endif
    (void)lock;
}

static void *worker(void *arg)
{
    (void)arg;
    hold();
    int n = config->size;
    give();
    return (void *)(long)n;
}

int main(void)
{
    pthread_t t;
    void *r;
    pthread_create(&t, NULL, worker, NULL);
    hold();
    give();
    config = malloc(sizeof *config);
    config->size = 7;
    config->limit = 9;
    pthread_join(t, &r);
    printf("%ld\n", (long)r);
    return (long)r != 7;
}
