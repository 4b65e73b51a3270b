/* A program with a pthread_create of its own, as some allocators have: it comes first, and the thread is known from
 * its first hook on. */
#include "by_hand.h"

#include "runtime/core/threads.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

static int created;

int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*routine)(void *), void *arg)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    created++;
    return next(t, attr, routine, arg);
}

NOINLINE static void *routine(void *arg)
{
    ENTER;
    CHECK(dh_depth == 0 && __dh_thread.depth == 1);
    LEAVE;
    return arg;
}

int main(void)
{
    pthread_t t;
    for (int i = 0; i < 10; i++)
        CHECK(pthread_create(&t, NULL, routine, NULL) == 0 && pthread_join(t, NULL) == 0);
    CHECK(created == 10 && dh_threads_count() == 11);
    _exit(0);
}
