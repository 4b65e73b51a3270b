/* The signal thread of a server reloads the configuration on SIGHUP and frees the old one, which a worker still reads.
 * Expected: use-after-free or race. */
#include "threads.h"

#include <signal.h>
#include <unistd.h>

struct config {
    int limit;
};

static struct config *current;
static sigset_t handled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *signal_thread(void *arg)
{
    int which;
    sigwait(&handled, &which);
    struct config *next = calloc(1, sizeof *next);
    next->limit = which == SIGHUP ? 20 : 30;
    pthread_mutex_lock(&lock);
    struct config *old = current;
    current = next;
    pthread_mutex_unlock(&lock);
    free(old);
    return arg;
}

static void *worker(void *arg)
{
    int limit = 0;
    pthread_mutex_lock(&lock);
    const struct config *c = current;
#ifdef FIXED
    limit = c->limit;
#endif
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    limit = c->limit;
#endif
    return limit ? arg : NULL;
}

static void *administrator(void *arg)
{
    kill(getpid(), SIGHUP);
    return arg;
}

int main(void)
{
    sigemptyset(&handled);
    sigaddset(&handled, SIGHUP);
    sigaddset(&handled, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &handled, NULL);
    current = calloc(1, sizeof *current);
    current->limit = 10;
    RUN(signal_thread, worker, administrator);
    free(current);
    return 0;
}
