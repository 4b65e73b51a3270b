/* A signal to the whole process is taken by whichever thread waits: two wait, one ends for ever waiting.
 * Expected: deadlock. */
#include "threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static sigset_t set;
static atomic_int is_told;

static void *waiter(void *arg)
{
    int which;
#ifdef FIXED
    if (!atomic_exchange(&is_told, 1))
#endif
        sigwait(&set, &which);
    return arg;
}

int main(void)
{
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t a = start(waiter, 0), b = start(waiter, 1);
    kill(getpid(), SIGUSR1);
    for (int i = 0; i < 60; i++)
        own_work();
#ifndef FIXED
    if (atomic_load(&is_told) == 0)
        kill(getpid(), SIGUSR1); /* a second one while the first is pending is no second one */
#endif
    finish(a);
    finish(b);
    return 0;
}
