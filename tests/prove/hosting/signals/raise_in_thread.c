/* A thread raises a signal at itself whose handler takes the lock that the thread may hold.
 * Expected: deadlock. */
#include "threads.h"

#include <signal.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int wants_dump;
static int n;

static void on_usr1(int signal)
{
    (void)signal;
    pthread_mutex_lock(&lock);
    n++;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    n++;
#ifndef FIXED
    if (wants_dump)
        raise(SIGUSR1);
#endif
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    if (wants_dump)
        raise(SIGUSR1);
#endif
    return arg;
}

static void *asker(void *arg)
{
    wants_dump = 1;
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = on_usr1};
    sigaction(SIGUSR1, &a, NULL);
    RUN(worker, asker);
    return 0;
}
