/* A daemon forks twice before it starts its threads; the threads lock two mutexes in opposite order.
 * Expected: deadlock. */
#include "threads.h"

#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *one(void *arg)
{
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return arg;
}

static void *other(void *arg)
{
#ifdef FIXED
    return one(arg);
#else
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return arg;
#endif
}

static int in_child(int (*what)(void))
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(what());
    waitpid(child, &status, 0);
    return status != 0;
}

static int work(void)
{
    RUN(one, other);
    return 0;
}

static int middle(void)
{
    return in_child(work);
}

int main(void)
{
    return in_child(middle);
}
