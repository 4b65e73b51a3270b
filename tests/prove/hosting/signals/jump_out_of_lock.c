/* A handler leaves by siglongjmp; if the thread held the lock it is never released.
 * Expected: deadlock. */
#include "threads.h"

#include <setjmp.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sigjmp_buf again;
static int steps;

static void on_usr1(int signal)
{
    siglongjmp(again, signal);
}

static void *worker(void *arg)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    if (sigsetjmp(again, 1))
        return arg;
    pthread_sigmask(SIG_UNBLOCK, &set, &before);
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &set, NULL);
#endif
    pthread_mutex_lock(&lock);
    steps++;
    pthread_mutex_unlock(&lock);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = on_usr1};
    sigset_t set;
    sigaction(SIGUSR1, &a, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t t = start(worker, 0);
    for (int i = 0; i < 8; i++)
        own_work();
    pthread_kill(t, SIGUSR1);
    pthread_mutex_lock(&lock);
    steps++;
    pthread_mutex_unlock(&lock);
    finish(t);
    return 0;
}
