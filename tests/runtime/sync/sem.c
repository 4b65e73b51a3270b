/* Semaphores. Broken: the reader waits for another semaphore. */
#include "pair.h"

#include <fcntl.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

static sem_t s[2];
static sem_t *named[2], *named_again[2];

static struct timespec soon(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += 50;
    return t;
}

/* The second can be had at once. */
static void prepare(void)
{
    for (int i = 0; i < 2; i++)
        CHECK(sem_init(&s[i], 0, (unsigned)i) == 0);
}
static void prepare_named(void)
{
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "/deadheat-test-%d-%d", getpid(), i);
        named[i] = sem_open(name, O_CREAT | O_EXCL, 0600, i);
        named_again[i] = sem_open(name, 0);
        CHECK(named[i] != SEM_FAILED && named_again[i] != SEM_FAILED);
        sem_unlink(name);
    }
}

static void post(int o)
{
    guarded++;
    CHECK(sem_post(&s[o]) == 0);
}
static void wait(int o)
{
    CHECK(sem_wait(&s[o]) == 0);
    guarded++;
}
static void try(int o)
{
    CHECK(sem_trywait(&s[o]) == 0);
    guarded++;
}
static void timed(int o)
{
    struct timespec t = soon(CLOCK_REALTIME);
    CHECK(sem_timedwait(&s[o], &t) == 0);
    guarded++;
}
static void clocked(int o)
{
    struct timespec t = soon(CLOCK_MONOTONIC);
    CHECK(sem_clockwait(&s[o], CLOCK_MONOTONIC, &t) == 0);
    guarded++;
}
static void post_named(int o)
{
    guarded++;
    CHECK(sem_post(named[o]) == 0);
}
static void wait_named(int o)
{
    CHECK(sem_wait(named_again[o]) == 0);
    guarded++;
}

/* Two posts, two waits: each wait comes after both, as they are after the second post. */
static void post_twice(int o)
{
    CHECK(sem_post(&s[o]) == 0);
    post(o);
}
static void wait_twice(int o)
{
    CHECK(sem_wait(&s[o]) == 0);
    if (!o)
        CHECK(sem_wait(&s[o]) == 0);
    guarded++;
}

static const struct pair pairs[] = {
    {"wait", prepare, post, wait, 0},
    {"waiting", prepare, post, wait, TOGETHER},
    {"trywait", prepare, post, try, 0},
    {"timedwait", prepare, post, timed, TOGETHER},
    {"clockwait", prepare, post, clocked, TOGETHER},
    {"twice", prepare, post_twice, wait_twice, TOGETHER},
    {"named", prepare_named, post_named, wait_named, TOGETHER},
};
PAIRS_MAIN(pairs)
