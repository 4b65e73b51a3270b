/* A thread lowers the limit of descriptors for a moment to keep its own to the lowest numbers; it is the limit of the
 * whole process, and another thread that puts a descriptor at a higher number meanwhile is refused.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <sys/resource.h>
#include <unistd.h>

enum { HIGH = 40 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void enter(void)
{
#ifdef FIXED
    pthread_mutex_lock(&mutex);
#endif
}

static void leave(void)
{
#ifdef FIXED
    pthread_mutex_unlock(&mutex);
#endif
}

static void *careful(void *arg)
{
    struct rlimit was, low, now;
    getrlimit(RLIMIT_NOFILE, &was);
    low = (struct rlimit){HIGH, was.rlim_max};
    enter();
    if (setrlimit(RLIMIT_NOFILE, &low) || getrlimit(RLIMIT_NOFILE, &now) || now.rlim_cur != HIGH)
        abort();
    if (setrlimit(RLIMIT_NOFILE, &was))
        abort();
    leave();
    return arg;
}

static void *mover(void *arg)
{
    struct rlimit none = {0, 0};
    enter();
    assert(dup2(1, HIGH) == HIGH);
    leave();
    close(HIGH);
    if (setrlimit(RLIMIT_CORE, &none))
        abort();
    return arg;
}

int main(void)
{
    struct rlimit core;
    RUN(careful, mover);
    return getrlimit(RLIMIT_CORE, &core) || core.rlim_max != 0;
}
