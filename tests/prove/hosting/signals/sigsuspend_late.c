/* The flag is tested with the signal unblocked and the thread suspends afterwards: a signal in between is lost.
 * Expected: lost-wakeup or deadlock. */
#include "threads.h"

#include <signal.h>
#include <stdatomic.h>

static atomic_int is_ready;

static void on_usr1(int signal)
{
    (void)signal;
    is_ready = 1;
}

static void *waiter(void *arg)
{
    sigset_t none, set;
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &set, NULL);
#endif
    while (!is_ready)
        sigsuspend(&none);
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = on_usr1};
    sigaction(SIGUSR1, &a, NULL);
    pthread_t t = start(waiter, 0);
    for (int i = 0; i < 8; i++)
        own_work();
    pthread_kill(t, SIGUSR1);
    finish(t);
    return 0;
}
