/* As daemons do: all signals are blocked, one thread takes them with sigwait. On SIGTERM it frees what workers still use.
 * Expected: use-after-free or crash. Also: race on `config`. */
#include "threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

struct config {
    char name[32];
    int limit;
};

static struct config *config;
static atomic_int stops, served;
static pthread_t worker_thread;

static void *worker(void *arg)
{
    for (int i = 0; i < 2 && !stops; i++)
        served += config->limit;
    return arg;
}

static void *signal_thread(void *arg)
{
    int which = 0;
    while (sigwait(arg, &which) == 0 && which != SIGTERM)
        config->limit++;
    stops = 1;
#ifdef FIXED
    finish(worker_thread);
#endif
    free(config);
    return NULL;
}

int main(void)
{
    static sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    config = calloc(1, sizeof *config);
    strcpy(config->name, "default");
    worker_thread = start(worker, 0);
    pthread_t signals;
    if (pthread_create(&signals, NULL, signal_thread, &all))
        abort();
    for (int i = 0; i < 8; i++)
        own_work();
    kill(getpid(), SIGTERM);
    finish(signals);
#ifndef FIXED
    finish(worker_thread);
#endif
    return 0;
}
