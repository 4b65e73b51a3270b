/* The alarm's handler frees the buffer that a worker still fills.
 * Expected: use-after-free or crash. Also: race on `buffer`. */
#include "threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static char *buffer;
static atomic_int is_stopped;

static void on_alarm(int signal)
{
    (void)signal;
    is_stopped = 1;
}

static void *worker(void *arg)
{
    for (int i = 0; i < 4 && !is_stopped; i++)
        memset(buffer, i, 16);
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = on_alarm};
    sigset_t blocked, before;
    sigaction(SIGALRM, &a, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    buffer = malloc(16);
    pthread_t t = start(worker, 0);
    alarm(1);
    while (!is_stopped)
        sigsuspend(&before);
#ifdef FIXED
    finish(t);
    free(buffer);
#else
    free(buffer);
    finish(t);
#endif
    return 0;
}
