/* sem_wait is interrupted by a handler and its result is not looked at: a thread enters without a token.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

static sem_t token;
static atomic_int inside;

static void on_usr1(int signal)
{
    (void)signal;
}

static void *worker(void *arg)
{
#ifdef FIXED
    while (sem_wait(&token) != 0 && errno == EINTR)
        ;
#else
    sem_wait(&token);
#endif
    assert(inside++ == 0);
    inside--;
    sem_post(&token);
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = on_usr1};
    sigaction(SIGUSR1, &a, NULL);
    sem_init(&token, 0, 1);
    pthread_t t = start(worker, 0), u = start(worker, 1);
    for (int i = 0; i < 8; i++)
        own_work();
    pthread_kill(u, SIGUSR1);
    finish(t);
    finish(u);
    return 0;
}
