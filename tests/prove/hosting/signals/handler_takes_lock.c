/* A signal from another thread is handled with the lock that the interrupted thread may hold.
 * Expected: deadlock. */
#include "threads.h"

#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int dumped, n;

static void on_usr2(int signal)
{
    (void)signal;
    pthread_mutex_lock(&lock);
    dumped = n;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
#ifdef FIXED
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, &before);
#endif
    pthread_mutex_lock(&lock);
    n++;
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = on_usr2};
    sigaction(SIGUSR2, &a, NULL);
    pthread_t t = start(worker, 0);
    for (int i = 0; i < 8; i++)
        own_work();
    pthread_kill(t, SIGUSR2);
    finish(t);
    return dumped > 1;
}
