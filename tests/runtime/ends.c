/* Every way a thread ends is seen after the program's own destructors, and changes no value. */
#include "by_hand.h"

#include "runtime/core/thread_state.h"
#include "runtime/core/threads.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static pthread_key_t key;
static int destroyed;

/* Comes back in every round, as libraries do, and calls hooks each time. */
NOINLINE static void destroy(void *value)
{
    ENTER;
    static __thread int round;
    if (++round < 4)
        CHECK(__dh_thread.capacity && !(__dh_thread.thread->flags & DH_THREAD_FINISHED));
    __atomic_fetch_add(&destroyed, 1, __ATOMIC_SEQ_CST);
    pthread_setspecific(key, value);
    LEAVE;
}

NOINLINE static void deep_exit(int depth)
{
    ENTER;
    if (depth)
        deep_exit(depth - 1);
    else
        pthread_exit((void *)11);
    LEAVE;
}

static void *exits(void *arg)
{
    ENTER;
    pthread_setspecific(key, arg);
    deep_exit(20);
    LEAVE;
    return NULL;
}

static void *returns(void *arg)
{
    pthread_setspecific(key, arg);
    errno = 1234;
    ENTER;
    __dh_read4(arg, 0);
    LEAVE;
    CHECK(errno == 1234);
    return arg;
}

static void *is_cancelled(void *arg)
{
    ENTER;
    for (;;)
        pause();
    LEAVE;
    return arg;
}

static void run(void *(*routine)(void *), void *expected, int cancel)
{
    pthread_t t;
    void *result;
    uint32_t index = dh_threads_count();
    CHECK(pthread_create(&t, NULL, routine, &key) == 0);
    if (cancel)
        pthread_cancel(t);
    CHECK(pthread_join(t, &result) == 0 && result == expected);
    struct dh_thread *record = dh_threads_find(index);
    CHECK(record && record->flags & DH_THREAD_FINISHED && record->flags & DH_THREAD_JOINED);
}

static void *last(void *main_thread)
{
    CHECK(pthread_join((pthread_t)main_thread, NULL) == 0);
    CHECK(dh_threads_find(0)->flags & DH_THREAD_FINISHED);
    exit(4);
}

int main(void)
{
    pthread_t t;
    pthread_key_create(&key, destroy);
    run(exits, (void *)11, 0);
    CHECK(destroyed == 4);
    run(returns, &key, 0);
    CHECK(destroyed == 2 * 4);
    run(is_cancelled, PTHREAD_CANCELED, 1);
    CHECK(__dh_thread.depth == 0);
    pthread_create(&t, NULL, last, (void *)pthread_self());
    pthread_exit(NULL);
}
