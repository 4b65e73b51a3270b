/* SIGALRM gives up a job that takes too long; it may come between the look at the clock and the note that the job is done,
 * and then the job is both. Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t is_done, was_given_up;

static void give_up(int number)
{
    (void)number;
    if (!is_done)
        was_given_up = 1;
}

static void *other(void *arg)
{
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
    return arg;
}

int main(void)
{
    sigset_t alarm_only;
    struct sigaction a = {.sa_handler = give_up};
    sigaction(SIGALRM, &a, NULL);
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    finish(start(other, 0));
    alarm(1);
    own_work();
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
#endif
    if (!was_given_up)
        is_done = 1;
#ifdef FIXED
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
#endif
    alarm(0);
    assert(is_done != was_given_up);
    return 0;
}
