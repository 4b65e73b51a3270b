/* Read-write locks and spin locks. Broken: the reader takes another lock, or both only read-lock. */
#include "pair.h"

#include <errno.h>
#include <time.h>

static pthread_rwlock_t l[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
static pthread_spinlock_t s[2];

static struct timespec soon(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += 50;
    return t;
}

static void prepare_spin(void)
{
    for (int i = 0; i < 2; i++)
        CHECK(pthread_spin_init(&s[i], PTHREAD_PROCESS_PRIVATE) == 0);
}

static void leave(int o)
{
    guarded++;
    CHECK(pthread_rwlock_unlock(&l[o]) == 0);
}
static void look(int o)
{
    CHECK(guarded == 1);
    CHECK(pthread_rwlock_unlock(&l[o]) == 0);
}

static void write_lock(int o)
{
    CHECK(pthread_rwlock_wrlock(&l[o]) == 0);
    leave(o);
}
static void write_try(int o)
{
    CHECK(pthread_rwlock_trywrlock(&l[o]) == 0);
    leave(o);
}
static void write_timed(int o)
{
    struct timespec t = soon(CLOCK_REALTIME);
    CHECK(pthread_rwlock_timedwrlock(&l[o], &t) == 0);
    leave(o);
}
static void write_clocked(int o)
{
    struct timespec t = soon(CLOCK_MONOTONIC);
    CHECK(pthread_rwlock_clockwrlock(&l[o], CLOCK_MONOTONIC, &t) == 0);
    leave(o);
}
static void read_lock(int o)
{
    CHECK(pthread_rwlock_rdlock(&l[o]) == 0);
    look(o);
}
static void read_try(int o)
{
    CHECK(pthread_rwlock_tryrdlock(&l[o]) == 0);
    look(o);
}
static void read_timed(int o)
{
    struct timespec t = soon(CLOCK_REALTIME);
    CHECK(pthread_rwlock_timedrdlock(&l[o], &t) == 0);
    look(o);
}
static void read_clocked(int o)
{
    struct timespec t = soon(CLOCK_MONOTONIC);
    CHECK(pthread_rwlock_clockrdlock(&l[o], CLOCK_MONOTONIC, &t) == 0);
    look(o);
}

static void read_first(int o)
{
    CHECK(pthread_rwlock_rdlock(&l[o]) == 0);
    CHECK(guarded == 0);
    CHECK(pthread_rwlock_unlock(&l[o]) == 0);
}

/* Readers do not order each other: a write under a read lock is as good as without. */
static void write_under_read(int o)
{
    CHECK((broken ? pthread_rwlock_rdlock : pthread_rwlock_wrlock)(&l[o]) == 0);
    leave(o);
}
static void read_same(int o)
{
    (void)o;
    read_lock(0);
}

static void spin(int o)
{
    CHECK(pthread_spin_lock(&s[o]) == 0);
    guarded++;
    CHECK(pthread_spin_unlock(&s[o]) == 0);
}
static void spin_try(int o)
{
    CHECK(pthread_spin_trylock(&s[o]) == 0);
    guarded++;
    CHECK(pthread_spin_unlock(&s[o]) == 0);
}

static const struct pair pairs[] = {
    {"write-write", NULL, write_lock, write_lock, 0},
    {"write-try", NULL, write_lock, write_try, 0},
    {"write-timed", NULL, write_lock, write_timed, 0},
    {"write-clocked", NULL, write_lock, write_clocked, 0},
    {"write-read", NULL, write_lock, read_lock, 0},
    {"write-read-try", NULL, write_lock, read_try, 0},
    {"write-read-timed", NULL, write_lock, read_timed, 0},
    {"write-read-clocked", NULL, write_lock, read_clocked, 0},
    {"read-write", NULL, read_first, write_lock, 0},
    {"read-read", NULL, write_under_read, read_same, 0},
    {"spin", prepare_spin, spin, spin, 0},
    {"spin-try", prepare_spin, spin, spin_try, 0},
};
PAIRS_MAIN(pairs)
