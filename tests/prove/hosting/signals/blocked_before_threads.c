/* Every signal is blocked before the threads begin, as daemons do; then a counter is updated without a lock.
 * Expected: assertion. Also: race on `served`. */
#include "threads.h"

#include <assert.h>
#include <signal.h>

static int served;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *worker(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int before = served;
    served = before + 1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    RUN(worker, worker);
    assert(served == 2);
    return 0;
}
