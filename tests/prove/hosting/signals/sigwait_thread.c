/* A thread waits for signals with sigwait; the setting it applies is read by a worker that checks too early.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int limit;

static void *signal_thread(void *arg)
{
    int which = 0;
    if (sigwait(arg, &which) == 0 && which == SIGHUP)
        limit = 10;
    return NULL;
}

int main(void)
{
    static sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t t;
    if (pthread_create(&t, NULL, signal_thread, &set))
        abort();
    pthread_kill(t, SIGHUP);
#ifdef FIXED
    finish(t);
    assert(limit == 10);
#else
    for (int i = 0; i < 60; i++)
        own_work();
    assert(limit == 10);
    finish(t);
#endif
    return 0;
}
