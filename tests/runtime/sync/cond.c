/* Condition variables: a wait takes the mutex again, however it ends. Broken: the writer does not take the mutex; the
 * signal alone orders nothing. */
#include "pair.h"

#include <errno.h>
#include <threads.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static mtx_t c11_m;
static cnd_t c11_c;

static void prepare_c11(void)
{
    CHECK(mtx_init(&c11_m, mtx_plain) == thrd_success && cnd_init(&c11_c) == thrd_success);
}

static struct timespec in(clockid_t clock, long ms)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* ---- the two families, under one set of names ---- */

struct family {
    void (*lock)(void), (*unlock)(void), (*broadcast)(void);
};

static void posix_lock(void)
{
    pthread_mutex_lock(&m);
}
static void posix_unlock(void)
{
    pthread_mutex_unlock(&m);
}
static void posix_broadcast(void)
{
    pthread_cond_broadcast(&c);
}
static const struct family posix = {posix_lock, posix_unlock, posix_broadcast};

static void c11_lock(void)
{
    mtx_lock(&c11_m);
}
static void c11_unlock(void)
{
    mtx_unlock(&c11_m);
}
static void c11_broadcast(void)
{
    cnd_broadcast(&c11_c);
}
static const struct family c11 = {c11_lock, c11_unlock, c11_broadcast};

/* The mutex is free only while the reader waits. */
static void write_with(const struct family *f)
{
    invisible_await(STEP);
    if (!broken)
        f->lock();
    guarded++;
    invisible_say(STEP2);
    if (!broken)
        f->unlock();
}

static void signal_until_woken(const struct family *f)
{
    while (!invisible_said(STEP3))
        f->broadcast();
}

static void wake(const struct family *f)
{
    guarded++;
    invisible_say(STEP3);
    f->unlock();
}

static void wait_with(const struct family *f, void (*wait)(void))
{
    f->lock();
    invisible_say(STEP);
    while (!invisible_said(STEP2))
        wait();
    wake(f);
}

/* ---- ways to wait ---- */

static void plainly(void)
{
    CHECK(pthread_cond_wait(&c, &m) == 0);
}
static void timed(void)
{
    struct timespec t = in(CLOCK_REALTIME, 50000);
    CHECK(pthread_cond_timedwait(&c, &m, &t) == 0);
}
static void clocked(void)
{
    struct timespec t = in(CLOCK_MONOTONIC, 50000);
    CHECK(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &t) == 0);
}
static void in_vain(void)
{
    struct timespec t = in(CLOCK_REALTIME, 20);
    CHECK(pthread_cond_timedwait(&c, &m, &t) == ETIMEDOUT);
}
static void plainly_c11(void)
{
    CHECK(cnd_wait(&c11_c, &c11_m) == thrd_success);
}
static void timed_c11(void)
{
    struct timespec t = in(CLOCK_REALTIME, 50000);
    CHECK(cnd_timedwait(&c11_c, &c11_m, &t) == thrd_success);
}

static void write_and_signal(int o)
{
    (void)o;
    write_with(&posix);
    signal_until_woken(&posix);
}
static void write_silently(int o)
{
    (void)o;
    write_with(&posix);
}
static void c11_write(int o)
{
    (void)o;
    write_with(&c11);
    signal_until_woken(&c11);
}

#define WAITS(name, family, way)                                                                                       \
    static void name(int o)                                                                                            \
    {                                                                                                                  \
        (void)o;                                                                                                       \
        wait_with(&family, way);                                                                                       \
    }
WAITS(wait_for_it, posix, plainly)
WAITS(wait_timed, posix, timed)
WAITS(wait_clocked, posix, clocked)
WAITS(wait_in_vain, posix, in_vain)
WAITS(c11_wait, c11, plainly_c11)
WAITS(c11_wait_timed, c11, timed_c11)

/* The cleanup handler holds the mutex. */
static pthread_t waiting;
static void cleanup(void *unused)
{
    (void)unused;
    wake(&posix);
}
static void *wait_until_cancelled(void *unused)
{
    pthread_mutex_lock(&m);
    pthread_cleanup_push(cleanup, NULL);
    invisible_say(STEP);
    for (;;)
        pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(0);
    return unused;
}
static void cancel_waiting(int o)
{
    void *result;
    (void)o;
    CHECK(pthread_create(&waiting, NULL, wait_until_cancelled, NULL) == 0);
    invisible_await(STEP2);
    CHECK(pthread_cancel(waiting) == 0);
    CHECK(pthread_join(waiting, &result) == 0 && result == PTHREAD_CANCELED);
}

static const struct pair pairs[] = {
    {"wait", NULL, write_and_signal, wait_for_it, TOGETHER},
    {"timedwait", NULL, write_and_signal, wait_timed, TOGETHER},
    {"clockwait", NULL, write_and_signal, wait_clocked, TOGETHER},
    {"timed-out", NULL, write_silently, wait_in_vain, TOGETHER},
    {"cancelled", NULL, write_silently, cancel_waiting, TOGETHER},
    {"cnd", prepare_c11, c11_write, c11_wait, TOGETHER},
    {"cnd-timed", prepare_c11, c11_write, c11_wait_timed, TOGETHER},
};
PAIRS_MAIN(pairs)
