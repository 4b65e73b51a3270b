/* A thread that counts is interrupted by a handler that counts too: one count is lost.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>

static volatile int events;
static atomic_int is_handled;

static void on_usr1(int signal)
{
    (void)signal;
    events = events + 1;
    is_handled = 1;
}

static void *counter(void *arg)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &set, &before);
#endif
    int now = events;
    events = now + 1;
#ifdef FIXED
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#else
    (void)before;
#endif
    while (!is_handled)
        sched_yield();
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = on_usr1};
    sigaction(SIGUSR1, &a, NULL);
    pthread_t t = start(counter, 0);
    for (int i = 0; i < 8; i++)
        own_work();
    pthread_kill(t, SIGUSR1);
    finish(t);
    assert(events == 2);
    return 0;
}
