/* A timer's signal is taken by sigtimedwait; after the time is up the other thread publishes too late.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

static atomic_int answer;

static void *worker(void *arg)
{
    own_work();
    answer = 42;
    return arg;
}

int main(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t t = start(worker, 0);
    struct itimerval soon = {.it_value = {.tv_usec = 200000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    struct timespec most = {.tv_sec = 5};
    int which = sigtimedwait(&set, NULL, &most);
    assert(which == SIGALRM);
#ifdef FIXED
    finish(t);
    assert(answer == 42);
#else
    assert(answer == 42); /* the time was enough, was it not? */
    finish(t);
#endif
    return 0;
}
