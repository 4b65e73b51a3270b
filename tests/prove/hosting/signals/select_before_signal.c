/* A loop tests a flag that a handler sets, and then waits in select: a signal in between is not noticed. pselect with the
 * signal blocked outside of it is what it needs.
 * Expected: deadlock or lost-wakeup. */
#include "threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/select.h>

static atomic_int stops;

static void on_term(int signal)
{
    (void)signal;
    stops = 1;
}

static void *loop(void *arg)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &set, &before);
    while (!stops)
        pselect(0, NULL, NULL, NULL, NULL, &before);
#else
    (void)before;
    while (!stops)
        select(0, NULL, NULL, NULL, NULL);
#endif
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = on_term};
    sigaction(SIGTERM, &a, NULL);
    pthread_t t = start(loop, 0);
    for (int i = 0; i < 8; i++)
        own_work();
    pthread_kill(t, SIGTERM);
    finish(t);
    return 0;
}
