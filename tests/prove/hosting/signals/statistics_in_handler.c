/* SIGUSR1 prints statistics from its handler, also while the thread that it interrupts has changed half of them.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <signal.h>

static volatile int requests, answers;

static void print_statistics(int number)
{
    (void)number;
    assert(requests == answers);
}

static void *server(void *arg)
{
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
#endif
    requests++;
    answers++;
#ifdef FIXED
    pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
#endif
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = print_statistics};
    sigaction(SIGUSR1, &a, NULL);
    pthread_t t = start(server, 0);
    pthread_kill(t, SIGUSR1);
    finish(t);
    return 0;
}
