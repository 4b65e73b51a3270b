/* A handler sets what a thread waits for at a condition, and nobody signals it: the handler runs, and the wait goes on.
 * Expected: deadlock or lost-wakeup. */
#include "threads.h"

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int is_told;
#ifdef FIXED
static sem_t told;
#else
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
#endif

static void on_hup(int signal)
{
    (void)signal;
    is_told = 1;
#ifdef FIXED
    sem_post(&told);
#endif
}

static void *waiter(void *arg)
{
#ifdef FIXED
    while (sem_wait(&told) != 0)
        ;
#else
    pthread_mutex_lock(&lock);
    while (!is_told)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = on_hup};
    sigaction(SIGHUP, &a, NULL);
#ifdef FIXED
    sem_init(&told, 0, 0);
#endif
    pthread_t t = start(waiter, 0);
    pthread_kill(t, SIGHUP);
    finish(t);
    return 0;
}
