/* The signal thread notes SIGTERM and wakes the worker; the note is looked at before the lock is taken, and the wake-up
 * comes in between. Expected: deadlock or lost-wakeup or race. */
#include "threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int stop;
static sigset_t handled;

static void *signal_thread(void *arg)
{
    int which;
    sigwait(&handled, &which);
    stop = 1;
#ifdef FIXED
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
#endif
    pthread_cond_signal(&changed);
    return arg;
}

static void *worker(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    while (!stop)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
#else
    if (!stop) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
#endif
    return arg;
}

static void *administrator(void *arg)
{
    kill(getpid(), SIGTERM);
    return arg;
}

int main(void)
{
    sigemptyset(&handled);
    sigaddset(&handled, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &handled, NULL);
    RUN(signal_thread, worker, administrator);
    return 0;
}
