/* Reads signals from a descriptor; the reader tells the main thread by a plain flag that is read without a lock.
 * Expected: race on `is_stopping`. */
#include "threads.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int is_stopping;
static int fd;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *reader(void *arg)
{
    struct signalfd_siginfo info;
    if (read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGTERM) {
#ifdef FIXED
        pthread_mutex_lock(&lock);
#endif
        is_stopping = 1;
#ifdef FIXED
        pthread_mutex_unlock(&lock);
#endif
    }
    return arg;
}

int main(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    fd = signalfd(-1, &set, SFD_CLOEXEC);
    pthread_t t = start(reader, 0);
    kill(getpid(), SIGTERM);
    for (int i = 0; i < 60; i++)
        own_work();
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int now = is_stopping;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    finish(t);
    close(fd);
    return now > 1;
}
