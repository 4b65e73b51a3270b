/* The program has a handler for crashes that writes a line and exits with 0: a crash is one all the same.
 * Expected: crash or use-after-free. Also: race on `job`. */
#include "threads.h"

#include <signal.h>
#include <unistd.h>

static int *volatile job;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void on_crash(int signal)
{
    (void)signal;
    _exit(0);
}

static void *worker(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (job)
        *job += 1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    static int it;
    struct sigaction a = {.sa_handler = on_crash};
    sigaction(SIGSEGV, &a, NULL);
    sigaction(SIGBUS, &a, NULL);
    job = &it;
    pthread_t t = start(worker, 0);
    for (int i = 0; i < 8; i++)
        own_work();
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    job = NULL;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    finish(t);
    return 0;
}
