/* A helper waits for a signal that ends the program early, and none is sent: the program tells it that it ends. The
 * consumer looks whether more will come before it takes the lock, and waits for what was the last one. Expected:
 * deadlock or lost-wakeup. */
#include "threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int ends;
static int queued;

static void *helper(void *set)
{
    int which = 0;
    if (sigwait(set, &which) == 0 && which == SIGTERM)
        _exit(3);
    return NULL;
}

static void *consumer(void *arg)
{
    for (;;) {
#ifndef FIXED
        int over = ends;
#endif
        pthread_mutex_lock(&lock);
#ifdef FIXED
        while (!queued && !ends)
            pthread_cond_wait(&changed, &lock);
        int over = ends;
#else
        while (!queued && !over)
            pthread_cond_wait(&changed, &lock);
#endif
        int got = queued;
        queued = 0;
        pthread_mutex_unlock(&lock);
        if (!got && over)
            return arg;
    }
}

int main(void)
{
    static sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigaddset(&term, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &term, NULL);
    pthread_t helps = start(helper, (long)&term), worker = start(consumer, 0);
    pthread_mutex_lock(&lock);
    queued = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    ends = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    finish(worker);
    pthread_kill(helps, SIGUSR1);
    finish(helps);
    return 0;
}
