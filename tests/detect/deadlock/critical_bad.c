/* The printer waits for a job with the device locked; the client needs the device before it brings one.
 * Expected: critical-wait suspected at `wait`, `need` and `signal`. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t device = PTHREAD_MUTEX_INITIALIZER, spool = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t nonempty = PTHREAD_COND_INITIALIZER;
static int paper, jobs, pages;

static void *client(void *arg)
{
    pthread_mutex_lock(&device); /* need */
    paper++;
    pthread_mutex_unlock(&device);
    invisible_reach(1);
    invisible_await(2); /* the printer has the spool until it waits */
    pthread_mutex_lock(&spool);
    jobs++;
    pthread_cond_signal(&nonempty); /* signal */
    pthread_mutex_unlock(&spool);
    return arg;
}

static void take_job(void)
{
    pthread_mutex_lock(&spool);
    invisible_reach(2);
    while (!jobs)
        pthread_cond_wait(&nonempty, &spool); /* wait */
    jobs--;
    pthread_mutex_unlock(&spool);
}

static void *printer(void *arg)
{
    invisible_await(1); /* the client has loaded its paper */
    pthread_mutex_lock(&device);
    take_job();
    paper--, pages++;
    pthread_mutex_unlock(&device);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, client, NULL);
    pthread_create(&b, NULL, printer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d page\n", pages);
    return 0;
}
