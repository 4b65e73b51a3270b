/* The worker may come before what it reads is there: no lock puts that right, only that it waits. With -DHELD it has a
 * lock by then that main needs on its way; with -DCALLER it has it when it is called. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct config {
    int size;
    int limit;
};
static struct config *config;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef HELD
#define INSIDE(call) call(&lock)
#else
#define INSIDE(call) (void)0
#endif
#ifdef CALLER
#define OUTSIDE(call) call(&lock)
#else
#define OUTSIDE(call) (void)0
#endif

static int size(void)
{
    INSIDE(pthread_mutex_lock);
    int n = config->size;
    INSIDE(pthread_mutex_unlock);
    return n;
}

static void *worker(void *arg)
{
    (void)arg;
    OUTSIDE(pthread_mutex_lock);
    int n = size();
    OUTSIDE(pthread_mutex_unlock);
    return (void *)(long)n;
}

int main(void)
{
    pthread_t t;
    void *r;
    pthread_create(&t, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    config = malloc(sizeof *config);
    config->size = 7;
    config->limit = 9;
    pthread_join(t, &r);
    printf("%ld\n", (long)r);
    return (long)r != 7;
}
