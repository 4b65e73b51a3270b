/* Threads: what was done before a thread is created, and all that it does until its very end before it is joined.
 * Broken: the access is on the wrong side, or nobody joins. */
#include "pair.h"

#include <errno.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_t thread;
static thrd_t c11;

static struct timespec soon(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += 50;
    return t;
}

static void nothing(int o)
{
    (void)o;
}

/* ---- creation ---- */

static void *read_it(void *unused)
{
    invisible_await(STEP);
    CHECK(guarded >= 0);
    return unused;
}
static int c11_read_it(void *unused)
{
    read_it(unused);
    return 0;
}
static void create(int late)
{
    if (!late)
        guarded++;
    CHECK(pthread_create(&thread, NULL, read_it, NULL) == 0);
    if (late)
        guarded++;
    invisible_say(STEP);
    CHECK(pthread_join(thread, NULL) == 0);
}
static void c11_create(int late)
{
    if (!late)
        guarded++;
    CHECK(thrd_create(&c11, c11_read_it, NULL) == thrd_success);
    if (late)
        guarded++;
    invisible_say(STEP);
    CHECK(thrd_join(c11, NULL) == thrd_success);
}

/* ---- the end ---- */

static void *access_and_return(void *unused)
{
    guarded++;
    invisible_say(STEP);
    return unused;
}
static int c11_access_and_return(void *unused)
{
    access_and_return(unused);
    return 0;
}
static int c11_access_and_exit(void *unused)
{
    access_and_return(unused);
    thrd_exit(0);
}
static void *access_and_exit(void *unused)
{
    access_and_return(unused);
    pthread_exit(NULL);
}
static void access_at_end(void *unused)
{
    (void)unused;
    access_and_return(NULL);
}
static void *exit_with_cleanup(void *unused)
{
    pthread_cleanup_push(access_at_end, NULL);
    pthread_exit(unused);
    pthread_cleanup_pop(0);
}
static void *sleep_until_cancelled(void *unused)
{
    pthread_cleanup_push(access_at_end, NULL);
    invisible_say(STEP2);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return unused;
}
static void *spin_until_cancelled(void *unused)
{
    pthread_cleanup_push(access_at_end, NULL);
    invisible_say(STEP2);
    for (;;)
        pthread_testcancel();
    pthread_cleanup_pop(0);
    return unused;
}

/* Destructors of thread-specific data may set it again, three times over. */
static pthread_key_t key;
static tss_t c11_key;
static void destroy(void *value)
{
    if ((intptr_t)value < 3)
        CHECK(pthread_setspecific(key, (void *)((intptr_t)value + 1)) == 0);
    else
        access_and_return(NULL);
}
static void c11_destroy(void *unused)
{
    access_and_return(unused);
}
static void *leave_value(void *unused)
{
    CHECK(pthread_setspecific(key, (void *)1) == 0);
    return unused;
}
static int c11_leave_value(void *unused)
{
    (void)unused;
    CHECK(tss_set(c11_key, &c11_key) == thrd_success);
    return 0;
}
static void make_keys(void)
{
    CHECK(pthread_key_create(&key, destroy) == 0);
    CHECK(tss_create(&c11_key, c11_destroy) == thrd_success);
}

enum { JOIN, TRY, TIMED, CLOCKED };

static void join(int how)
{
    struct timespec t = soon(how == CLOCKED ? CLOCK_MONOTONIC : CLOCK_REALTIME);
    int result;
    do
        result = how == TRY       ? pthread_tryjoin_np(thread, NULL)
                 : how == TIMED   ? pthread_timedjoin_np(thread, NULL, &t)
                 : how == CLOCKED ? pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &t)
                                  : pthread_join(thread, NULL);
    while (result == EBUSY);
    CHECK(result == 0);
}

/* Broken: waits unseen for the access, and joins only after its own. */
static void end(void *(*routine)(void *), int how, int cancels)
{
    CHECK(pthread_create(&thread, NULL, routine, NULL) == 0);
    if (cancels) {
        invisible_await(STEP2);
        CHECK(pthread_cancel(thread) == 0);
    }
    invisible_await(STEP);
    if (!broken)
        join(how);
    guarded++;
    if (broken)
        join(how);
}

#define END(name, routine, how, cancels)                                                                               \
    static void name(int o)                                                                                            \
    {                                                                                                                  \
        (void)o;                                                                                                       \
        end(routine, how, cancels);                                                                                    \
    }
END(join_plain, access_and_return, JOIN, 0)
END(join_try, access_and_return, TRY, 0)
END(join_timed, access_and_return, TIMED, 0)
END(join_clocked, access_and_return, CLOCKED, 0)
END(join_exited, access_and_exit, JOIN, 0)
END(join_cleaned, exit_with_cleanup, JOIN, 0)
END(join_cancelled, sleep_until_cancelled, JOIN, 1)
END(join_tested, spin_until_cancelled, JOIN, 1)
END(join_destroyed, leave_value, JOIN, 0)

static void c11_end(thrd_start_t routine)
{
    CHECK(thrd_create(&c11, routine, NULL) == thrd_success);
    invisible_await(STEP);
    if (!broken)
        CHECK(thrd_join(c11, NULL) == thrd_success);
    guarded++;
    if (broken)
        CHECK(thrd_join(c11, NULL) == thrd_success);
}
static void c11_join(int o)
{
    (void)o;
    c11_end(c11_access_and_return);
}
static void c11_join_exited(int o)
{
    (void)o;
    c11_end(c11_access_and_exit);
}
static void c11_join_destroyed(int o)
{
    (void)o;
    c11_end(c11_leave_value);
}

/* ---- cancellation ---- */

static void look_at_it(void *unused)
{
    (void)unused;
    CHECK(guarded >= 0);
    invisible_say(STEP3);
}
static void *wait_to_look(void *unused)
{
    pthread_cleanup_push(look_at_it, NULL);
    invisible_say(STEP2);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return unused;
}
/* The cleanup handler sees what was done before the cancellation. */
static void cancel(int late)
{
    CHECK(pthread_create(&thread, NULL, wait_to_look, NULL) == 0);
    invisible_await(STEP2);
    if (!late)
        guarded++;
    CHECK(pthread_cancel(thread) == 0);
    if (late)
        guarded++;
    invisible_await(STEP3);
    CHECK(pthread_join(thread, NULL) == 0);
}

/* ---- detached threads: ordered by other means; their stacks are used again ---- */

static sem_t done;
static void *use_stack(void *unused)
{
    char deep[30000];
    for (size_t i = 0; i < sizeof deep; i++)
        deep[i] = (char)i;
    __asm__ volatile("" ::"r"(deep) : "memory");
    if (invisible_said(STEP)) {
        guarded++;
        invisible_say(STEP2);
    }
    sem_post(&done);
    return unused;
}
static void detach(int o)
{
    CHECK(sem_init(&done, 0, 0) == 0);
    for (int i = 0; i < 50; i++) {
        if (i == 49)
            invisible_say(STEP);
        CHECK(pthread_create(&thread, NULL, use_stack, NULL) == 0 && pthread_detach(thread) == 0);
        if (i < 49)
            CHECK(sem_wait(&done) == 0);
    }
    if (o)
        invisible_await(STEP2);
    else
        CHECK(sem_wait(&done) == 0);
    guarded++;
}

/* ---- attributes: the default ones, a size, a stack of the program's ---- */

static char own_stack[1 << 18] __attribute__((aligned(4096)));
static void attributes(int o)
{
    pthread_attr_t attr;
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_attr_init(&attr) == 0);
        if (i == 1)
            CHECK(pthread_attr_setstacksize(&attr, 1 << 17) == 0);
        if (i >= 2)
            CHECK(pthread_attr_setstack(&attr, own_stack, sizeof own_stack) == 0);
        CHECK(pthread_create(&thread, &attr, access_and_return, NULL) == 0);
        if (i < 3 || !o)
            CHECK(pthread_join(thread, NULL) == 0);
    }
    guarded++;
    if (o)
        CHECK(pthread_join(thread, NULL) == 0);
}

/* `writer` is nobody where the reader makes its own thread. */
static const struct pair pairs[] = {
    {"create", NULL, nothing, create, 0},
    {"thrd_create", NULL, nothing, c11_create, 0},
    {"join", NULL, nothing, join_plain, 0},
    {"tryjoin", NULL, nothing, join_try, 0},
    {"timedjoin", NULL, nothing, join_timed, 0},
    {"clockjoin", NULL, nothing, join_clocked, 0},
    {"exit", NULL, nothing, join_exited, 0},
    {"exit-cleanup", NULL, nothing, join_cleaned, 0},
    {"cancelled-waiting", NULL, nothing, join_cancelled, 0},
    {"cancelled-testing", NULL, nothing, join_tested, 0},
    {"destructor", make_keys, nothing, join_destroyed, 0},
    {"thrd_join", NULL, nothing, c11_join, 0},
    {"thrd_exit", NULL, nothing, c11_join_exited, 0},
    {"tss-destructor", make_keys, nothing, c11_join_destroyed, 0},
    {"cancel", NULL, nothing, cancel, 0},
    {"attributes", NULL, nothing, attributes, 0},
    {"detach", NULL, nothing, detach, 0},
};
PAIRS_MAIN(pairs)
