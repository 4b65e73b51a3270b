/* A worker blocks every signal around its update and takes that for mutual exclusion.
 * Expected: assertion. Also: race on `total`. */
#include "threads.h"

#include <assert.h>
#include <signal.h>

static int total;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *worker(void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    total += 5;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return arg;
}

int main(void)
{
    RUN(worker, worker);
    assert(total == 10);
    return 0;
}
