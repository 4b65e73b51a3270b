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

/* The mutex is free only while the reader waits. */
static void write_and_signal(int o)
{
    (void)o;
    invisible_await(STEP);
    if (!broken)
        pthread_mutex_lock(&m);
    guarded++;
    invisible_say(STEP2);
    if (!broken)
        pthread_mutex_unlock(&m);
    while (!invisible_said(STEP3))
        pthread_cond_broadcast(&c);
}

static void wake(void)
{
    guarded++;
    invisible_say(STEP3);
    pthread_mutex_unlock(&m);
}

static void wait_for_it(int o)
{
    (void)o;
    pthread_mutex_lock(&m);
    invisible_say(STEP);
    while (!invisible_said(STEP2))
        CHECK(pthread_cond_wait(&c, &m) == 0);
    wake();
}
static void wait_timed(int o)
{
    (void)o;
    struct timespec t = in(CLOCK_REALTIME, 50000);
    pthread_mutex_lock(&m);
    invisible_say(STEP);
    while (!invisible_said(STEP2))
        CHECK(pthread_cond_timedwait(&c, &m, &t) == 0);
    wake();
}
static void wait_clocked(int o)
{
    (void)o;
    struct timespec t = in(CLOCK_MONOTONIC, 50000);
    pthread_mutex_lock(&m);
    invisible_say(STEP);
    while (!invisible_said(STEP2))
        CHECK(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &t) == 0);
    wake();
}

static void write_silently(int o)
{
    (void)o;
    invisible_await(STEP);
    if (!broken)
        pthread_mutex_lock(&m);
    guarded++;
    invisible_say(STEP2);
    if (!broken)
        pthread_mutex_unlock(&m);
}
static void wait_in_vain(int o)
{
    (void)o;
    pthread_mutex_lock(&m);
    invisible_say(STEP);
    while (!invisible_said(STEP2)) {
        struct timespec t = in(CLOCK_REALTIME, 20);
        CHECK(pthread_cond_timedwait(&c, &m, &t) == ETIMEDOUT);
    }
    wake();
}

/* The cleanup handler holds the mutex. */
static pthread_t waiting;
static void cleanup(void *unused)
{
    (void)unused;
    wake();
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

static void c11_write(int o)
{
    (void)o;
    invisible_await(STEP);
    if (!broken)
        mtx_lock(&c11_m);
    guarded++;
    invisible_say(STEP2);
    if (!broken)
        mtx_unlock(&c11_m);
    while (!invisible_said(STEP3))
        cnd_broadcast(&c11_c);
}
static void c11_wait(int o)
{
    (void)o;
    mtx_lock(&c11_m);
    invisible_say(STEP);
    while (!invisible_said(STEP2))
        CHECK(cnd_wait(&c11_c, &c11_m) == thrd_success);
    guarded++;
    invisible_say(STEP3);
    mtx_unlock(&c11_m);
}
static void c11_wait_timed(int o)
{
    (void)o;
    struct timespec t = in(CLOCK_REALTIME, 50000);
    mtx_lock(&c11_m);
    invisible_say(STEP);
    while (!invisible_said(STEP2))
        CHECK(cnd_timedwait(&c11_c, &c11_m, &t) == thrd_success);
    guarded++;
    invisible_say(STEP3);
    mtx_unlock(&c11_m);
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
