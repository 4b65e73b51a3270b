/* Two threads queue jobs as real-time signals with values; the reader takes them for sent in the order of their numbers.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static void *sender(void *arg)
{
    union sigval v = {.sival_int = (int)(long)arg};
    sigqueue(getpid(), SIGRTMIN + 3, v);
    return arg;
}

int main(void)
{
    sigset_t set;
    siginfo_t first, second;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 3);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t a = start(sender, 1);
#ifdef FIXED
    finish(a);
#else
    for (int i = 0; i < 8; i++)
        own_work();
#endif
    pthread_t b = start(sender, 2);
    sigwaitinfo(&set, &first);
    sigwaitinfo(&set, &second);
    assert(first.si_value.sival_int == 1 && second.si_value.sival_int == 2);
#ifndef FIXED
    finish(a);
#endif
    finish(b);
    return 0;
}
