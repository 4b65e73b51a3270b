/* What runs once. Broken: the reader's flag is another one. */
#include "pair.h"

#include <threads.h>

static pthread_once_t posix[2] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT};
static once_flag c11[2] = {ONCE_FLAG_INIT, ONCE_FLAG_INIT};
static pthread_once_t inner = PTHREAD_ONCE_INIT;

static void first_time(void)
{
    if (!invisible_said(STEP)) {
        invisible_say(STEP);
        guarded++;
    }
}
static void in_posix(int o)
{
    CHECK(pthread_once(&posix[o], first_time) == 0);
}
static void after_posix(int o)
{
    in_posix(o);
    guarded++;
}

/* The reader comes while the routine runs. */
static void slow(void)
{
    invisible_say(STEP);
    for (int i = 0; i < 30000000 && !invisible_said(STEP2); i++)
        ;
    guarded++;
}
static void nothing(void)
{
}
static void in_slow(int o)
{
    CHECK(pthread_once(&posix[o], slow) == 0);
}
static void after_slow(int o)
{
    invisible_await(STEP);
    invisible_say(STEP2);
    CHECK(pthread_once(&posix[o], nothing) == 0);
    guarded++;
}

static void in_c11(int o)
{
    call_once(&c11[o], first_time);
}
static void after_c11(int o)
{
    in_c11(o);
    guarded++;
}

/* One within the other; the reader asks for the inner one only. */
static void nest(void)
{
    CHECK(pthread_once(&inner, first_time) == 0);
}
static void in_nested(int o)
{
    CHECK(pthread_once(&posix[o], nest) == 0);
}
static void after_inner(int o)
{
    CHECK(pthread_once(o ? &posix[1] : &inner, first_time) == 0);
    guarded++;
}

/* Whoever begins is left by pthread_exit, or by the cancellation of its thread; the next call begins anew. */
static void leave_by_exit(void)
{
    guarded++;
    invisible_say(WRITTEN);
    pthread_exit(NULL);
}
static void leave_by_cancellation(void)
{
    guarded++;
    invisible_say(WRITTEN);
    pthread_cancel(pthread_self());
    pthread_testcancel();
}
static void in_exit(int o)
{
    pthread_once(&posix[o], leave_by_exit);
}
static void in_cancellation(int o)
{
    pthread_once(&posix[o], leave_by_cancellation);
}
static void count(void)
{
    guarded++;
}
static void after_attempt(int o)
{
    CHECK(pthread_once(&posix[o], count) == 0);
}

static const struct pair pairs[] = {
    {"pthread_once", NULL, in_posix, after_posix, 0},
    {"waiting", NULL, in_slow, after_slow, TOGETHER},
    {"call_once", NULL, in_c11, after_c11, 0},
    {"nested", NULL, in_nested, after_inner, 0},
    {"pthread_exit", NULL, in_exit, after_attempt, 0},
    {"cancellation", NULL, in_cancellation, after_attempt, 0},
};
PAIRS_MAIN(pairs)
