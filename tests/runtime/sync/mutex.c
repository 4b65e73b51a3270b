/* Mutexes of every type and every way to take them. Broken: the reader takes another mutex. */
#include "pair.h"

#include <errno.h>
#include <threads.h>
#include <time.h>

static pthread_mutex_t m[2];
static mtx_t c11[2];
static FILE *stream[2];

static struct timespec soon(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += 50;
    return t;
}

static void prepare(int type, int robust)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, type);
    pthread_mutexattr_setrobust(&attr, robust);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_mutex_init(&m[i], &attr) == 0);
    pthread_mutexattr_destroy(&attr);
}

static void prepare_normal(void)
{
    prepare(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED);
}
static void prepare_recursive(void)
{
    prepare(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
}
static void prepare_errorcheck(void)
{
    prepare(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
}
static void prepare_adaptive(void)
{
    prepare(PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_STALLED);
}
static void prepare_robust(void)
{
    prepare(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
}
static void prepare_inheriting(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_mutex_init(&m[i], &attr) == 0);
}
static void prepare_c11(void)
{
    for (int i = 0; i < 2; i++)
        CHECK(mtx_init(&c11[i], mtx_timed | mtx_recursive) == thrd_success);
}
static void prepare_streams(void)
{
    for (int i = 0; i < 2; i++)
        CHECK(stream[i] = fopen("/dev/null", "w"));
}

static void lock(int o)
{
    CHECK(pthread_mutex_lock(&m[o]) == 0);
    guarded++;
    CHECK(pthread_mutex_unlock(&m[o]) == 0);
}

/* The order is that of the outermost pair. */
static void lock_twice(int o)
{
    CHECK(pthread_mutex_lock(&m[o]) == 0);
    CHECK(pthread_mutex_lock(&m[o]) == 0);
    CHECK(pthread_mutex_unlock(&m[o]) == 0);
    guarded++;
    CHECK(pthread_mutex_unlock(&m[o]) == 0);
}

/* Refusals change nothing. */
static void lock_checked(int o)
{
    CHECK(pthread_mutex_unlock(&m[o]) == EPERM);
    CHECK(pthread_mutex_lock(&m[o]) == 0);
    CHECK(pthread_mutex_lock(&m[o]) == EDEADLK);
    CHECK(pthread_mutex_trylock(&m[o]) == EBUSY);
    guarded++;
    CHECK(pthread_mutex_unlock(&m[o]) == 0);
}

/* Unlocking what is not ours is refused, and orders nothing. */
static void write_then_refused(int o)
{
    CHECK(pthread_mutex_lock(&m[o]) == 0);
    CHECK(pthread_mutex_unlock(&m[o]) == 0);
    if (!broken)
        CHECK(pthread_mutex_lock(&m[o]) == 0);
    guarded++;
    CHECK(pthread_mutex_unlock(&m[o]) == (broken ? EPERM : 0));
}
static void lock_same(int o)
{
    (void)o;
    lock(0);
}

/* The writer ends with the lock held. Broken: it takes no lock at all. */
static void die_holding(int o)
{
    if (!broken)
        CHECK(pthread_mutex_lock(&m[o]) == 0);
    guarded++;
    if (!broken)
        pthread_exit(NULL);
}
static void inherit(int o)
{
    int result = o ? pthread_mutex_lock(&m[o]) : EBUSY;
    while (!o && (result == EBUSY || result == 0)) {
        if (result == 0) /* before the writer had it */
            pthread_mutex_unlock(&m[o]);
        result = pthread_mutex_trylock(&m[o]);
    }
    CHECK(result == (o ? 0 : EOWNERDEAD));
    if (!o)
        CHECK(pthread_mutex_consistent(&m[o]) == 0);
    guarded++;
    CHECK(pthread_mutex_unlock(&m[o]) == 0);
}

static void try(int o)
{
    CHECK(pthread_mutex_trylock(&m[o]) == 0);
    guarded++;
    CHECK(pthread_mutex_unlock(&m[o]) == 0);
}
static void timed(int o)
{
    struct timespec t = soon(CLOCK_REALTIME);
    CHECK(pthread_mutex_timedlock(&m[o], &t) == 0);
    guarded++;
    CHECK(pthread_mutex_unlock(&m[o]) == 0);
}
static void clocked(int o)
{
    struct timespec t = soon(CLOCK_MONOTONIC);
    CHECK(pthread_mutex_clocklock(&m[o], 4711, &t) == EINVAL);
    CHECK(pthread_mutex_clocklock(&m[o], CLOCK_MONOTONIC, &t) == 0);
    guarded++;
    CHECK(pthread_mutex_unlock(&m[o]) == 0);
}

/* The reader has to wait: the writer holds the lock until it is seen to. */
static void hold_long(int o)
{
    CHECK(pthread_mutex_lock(&m[o]) == 0);
    invisible_say(STEP);
    for (int i = 0; i < 50; i++) {
        struct timespec t = {0, 1000000};
        nanosleep(&t, NULL);
    }
    guarded++;
    CHECK(pthread_mutex_unlock(&m[o]) == 0);
}
static void wait_for_holder(int o)
{
    invisible_await(STEP);
    lock(o);
}

static void c11_lock(int o)
{
    CHECK(mtx_lock(&c11[o]) == thrd_success);
    guarded++;
    CHECK(mtx_unlock(&c11[o]) == thrd_success);
}
static void c11_try(int o)
{
    CHECK(mtx_trylock(&c11[o]) == thrd_success);
    guarded++;
    CHECK(mtx_unlock(&c11[o]) == thrd_success);
}
static void c11_timed(int o)
{
    struct timespec t = soon(CLOCK_REALTIME);
    CHECK(mtx_timedlock(&c11[o], &t) == thrd_success);
    guarded++;
    CHECK(mtx_unlock(&c11[o]) == thrd_success);
}

static void own_stream(int o)
{
    flockfile(stream[o]);
    guarded++;
    funlockfile(stream[o]);
}
static void try_stream(int o)
{
    CHECK(ftrylockfile(stream[o]) == 0);
    guarded++;
    funlockfile(stream[o]);
}

static const struct pair pairs[] = {
    {"normal", prepare_normal, lock, lock, 0},
    {"recursive", prepare_recursive, lock_twice, lock_twice, 0},
    {"errorcheck", prepare_errorcheck, lock_checked, lock_checked, 0},
    {"refused", prepare_errorcheck, write_then_refused, lock_same, 0},
    {"adaptive", prepare_adaptive, lock, lock, 0},
    {"inheriting", prepare_inheriting, lock, lock, 0},
    {"robust", prepare_robust, lock, lock, 0},
    {"robust-dead", prepare_robust, die_holding, inherit, TOGETHER},
    {"trylock", prepare_normal, lock, try, 0},
    {"timedlock", prepare_normal, lock, timed, 0},
    {"clocklock", prepare_normal, lock, clocked, 0},
    {"contended", prepare_normal, hold_long, wait_for_holder, TOGETHER},
    {"mtx", prepare_c11, c11_lock, c11_lock, 0},
    {"mtx-try", prepare_c11, c11_lock, c11_try, 0},
    {"mtx-timed", prepare_c11, c11_lock, c11_timed, 0},
    {"stream", prepare_streams, own_stream, own_stream, 0},
    {"stream-try", prepare_streams, own_stream, try_stream, 0},
};
PAIRS_MAIN(pairs)
