/* Every primitive must do what POSIX says, in every schedule: a check that fails aborts.
 * drive: --schedules=1500 --spurious
 * expect: ends: done 1500$ */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define CHECK(x)                                                                                                       \
    do {                                                                                                               \
        if (!(x))                                                                                                      \
            fail(#x, __LINE__);                                                                                        \
    } while (0)

static void fail(const char *what, int line)
{
    fprintf(stderr, "line %d: %s\n", line, what);
    assert(!"a check failed");
}

static struct timespec in(long ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* ---- mutexes ---- */

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive, checking, robust;
static int inside[4];

static void critical(int lock)
{
    CHECK(++inside[lock] == 1);
    sched_yield();
    CHECK(--inside[lock] == 0);
}

static void *mutexes(void *a)
{
    CHECK(pthread_mutex_lock(&plain) == 0);
    critical(0);
    CHECK(pthread_mutex_unlock(&plain) == 0);
    CHECK(pthread_mutex_lock(&recursive) == 0);
    CHECK(pthread_mutex_lock(&recursive) == 0);
    CHECK(pthread_mutex_trylock(&recursive) == 0);
    critical(1);
    CHECK(pthread_mutex_unlock(&recursive) == 0);
    CHECK(pthread_mutex_unlock(&recursive) == 0);
    CHECK(pthread_mutex_unlock(&recursive) == 0);
    CHECK(pthread_mutex_unlock(&recursive) == EPERM);
    CHECK(pthread_mutex_unlock(&checking) == EPERM);
    CHECK(pthread_mutex_lock(&checking) == 0);
    CHECK(pthread_mutex_lock(&checking) == EDEADLK);
    critical(2);
    CHECK(pthread_mutex_unlock(&checking) == 0);
    int result = pthread_mutex_trylock(&plain);
    CHECK(result == 0 || result == EBUSY);
    if (result == 0) {
        critical(0);
        pthread_mutex_unlock(&plain);
    }
    struct timespec soon = in(5);
    result = pthread_mutex_timedlock(&plain, &soon);
    CHECK(result == 0 || result == ETIMEDOUT);
    if (result == 0) {
        critical(0);
        pthread_mutex_unlock(&plain);
    } else {
        struct timespec now = in(0);
        CHECK(now.tv_sec > soon.tv_sec || (now.tv_sec == soon.tv_sec && now.tv_nsec >= soon.tv_nsec));
    }
    return a;
}

static void *dies_holding(void *a)
{
    CHECK(pthread_mutex_lock(&robust) == 0);
    return a;
}

static void init_mutexes(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_NORMAL);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &a);
    pthread_mutexattr_destroy(&a);
}

static void robustness(void)
{
    pthread_t t;
    pthread_create(&t, NULL, dies_holding, NULL);
    pthread_join(t, NULL);
    CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD);
    CHECK(pthread_mutex_consistent(&robust) == 0);
    CHECK(pthread_mutex_unlock(&robust) == 0);
    pthread_create(&t, NULL, dies_holding, NULL);
    pthread_join(t, NULL);
    CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD);
    CHECK(pthread_mutex_unlock(&robust) == 0);
    CHECK(pthread_mutex_lock(&robust) == ENOTRECOVERABLE);
}

/* ---- conditions ---- */

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void *takes_turns(void *a)
{
    int me = (int)(long)a;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&plain);
        while (turn != me)
            CHECK(pthread_cond_wait(&changed, &plain) == 0);
        turn = !me;
        CHECK(pthread_cond_signal(&changed) == 0);
        pthread_mutex_unlock(&plain);
    }
    return NULL;
}

static void *never_woken(void *a)
{
    pthread_cond_t lonely = PTHREAD_COND_INITIALIZER;
    struct timespec soon = in(3);
    pthread_mutex_lock(&checking);
    int result = pthread_cond_timedwait(&lonely, &checking, &soon);
    CHECK(result == ETIMEDOUT || result == 0);
    CHECK(pthread_mutex_unlock(&checking) == 0);
    return a;
}

/* ---- rwlocks, spin locks ---- */

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static _Atomic int readers, writers;

static void *reads_and_writes(void *a)
{
    CHECK(pthread_rwlock_rdlock(&rw) == 0);
    readers++;
    CHECK(writers == 0);
    sched_yield();
    CHECK(writers == 0);
    readers--;
    CHECK(pthread_rwlock_unlock(&rw) == 0);
    CHECK(pthread_rwlock_wrlock(&rw) == 0);
    CHECK(pthread_rwlock_tryrdlock(&rw) == EBUSY && pthread_rwlock_wrlock(&rw) == EDEADLK);
    CHECK(readers == 0 && ++writers == 1);
    sched_yield();
    CHECK(readers == 0 && --writers == 0);
    CHECK(pthread_rwlock_unlock(&rw) == 0);
    int result = pthread_rwlock_trywrlock(&rw);
    CHECK(result == 0 || result == EBUSY);
    if (result == 0)
        pthread_rwlock_unlock(&rw);
    CHECK(pthread_spin_lock(&spin) == 0);
    critical(3);
    CHECK(pthread_spin_trylock(&spin) == EBUSY);
    CHECK(pthread_spin_unlock(&spin) == 0);
    return a;
}

/* ---- semaphores, barriers, once ---- */

static sem_t items, slots;
static int buffer[2], in_at, out_at;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic int arrived[2];
static int ran_once, serial;

static void *produces(void *a)
{
    for (int i = 1; i <= 4; i++) {
        CHECK(sem_wait(&slots) == 0);
        buffer[in_at++ % 2] = i;
        CHECK(sem_post(&items) == 0);
    }
    return a;
}

static void *consumes(void *a)
{
    for (int i = 1; i <= 4; i++) {
        CHECK(sem_wait(&items) == 0);
        CHECK(buffer[out_at++ % 2] == i);
        CHECK(sem_post(&slots) == 0);
    }
    CHECK(sem_trywait(&items) == -1 && errno == EAGAIN);
    struct timespec soon = in(1);
    CHECK(sem_timedwait(&items, &soon) == -1 && errno == ETIMEDOUT);
    return a;
}

static void run_once(void)
{
    ran_once++;
    sched_yield();
    CHECK(ran_once == 1);
}

static void *meets(void *a)
{
    int me = (int)(long)a;
    for (int round = 1; round <= 2; round++) {
        arrived[me] = round;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
            pthread_mutex_lock(&plain);
            serial++;
            pthread_mutex_unlock(&plain);
        }
        CHECK(arrived[!me] >= round);
    }
    pthread_once(&once, run_once);
    CHECK(ran_once == 1);
    return a;
}

/* ---- keys, exit, cancellation, detaching ---- */

static pthread_key_t key;
static __thread int own = 7;
static int destroyed, cleaned;

static void destroy(void *value)
{
    destroyed += *(int *)value;
    free(value);
}

static void clean(void *value)
{
    cleaned += *(int *)value;
}

static void *exits(void *a)
{
    int *value = malloc(sizeof *value), one = 1;
    CHECK(own == 7);
    own = 8;
    *value = 1;
    pthread_setspecific(key, value);
    pthread_cleanup_push(clean, &one);
    pthread_exit((void *)5);
    pthread_cleanup_pop(0);
    return a;
}

static sem_t never;

static void unlock(void *m)
{
    CHECK(pthread_mutex_unlock(m) == 0);
}

static void *is_cancelled(void *a)
{
    int ten = 10;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    sleep(1);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pthread_cleanup_push(clean, &ten);
    sem_wait(&never);
    pthread_cleanup_pop(0);
    return a;
}

static void *is_cancelled_waiting(void *a)
{
    pthread_mutex_lock(&checking);
    pthread_cleanup_push(unlock, &checking);
    for (;;)
        pthread_cond_wait(&changed, &checking);
    pthread_cleanup_pop(0);
    return a;
}

static void *detached(void *a)
{
    sem_post(a);
    return NULL;
}

/* ---- C11 ---- */

static mtx_t c11;
static cnd_t c11_changed;
static int c11_ready;
static once_flag c11_once = ONCE_FLAG_INIT;
static int c11_ran;

static void c11_run(void)
{
    c11_ran++;
}

static int c11_thread(void *a)
{
    call_once(&c11_once, c11_run);
    mtx_lock(&c11);
    c11_ready++;
    cnd_broadcast(&c11_changed);
    mtx_unlock(&c11);
    thrd_yield();
    thrd_exit((int)(long)a);
}

static void pair(void *(*a)(void *), void *(*b)(void *))
{
    pthread_t t[2];
    void *value;
    CHECK(pthread_create(&t[0], NULL, a, (void *)0) == 0);
    CHECK(pthread_create(&t[1], NULL, b, (void *)1) == 0);
    CHECK(pthread_join(t[0], &value) == 0);
    CHECK(pthread_join(t[1], &value) == 0);
}

static void test_conditions(void)
{
    pair(takes_turns, takes_turns);
    pair(never_woken, never_woken);
}

static void test_counting(void)
{
    sem_init(&items, 0, 0);
    sem_init(&slots, 0, 2);
    pair(produces, consumes);
    pthread_barrier_init(&barrier, NULL, 2);
    pair(meets, meets);
    CHECK(serial == 2);
}

static void test_ends(void)
{
    pthread_t t;
    void *value;
    sem_init(&never, 0, 0);
    pthread_key_create(&key, destroy);
    pthread_create(&t, NULL, exits, NULL);
    CHECK(pthread_join(t, &value) == 0 && value == (void *)5 && destroyed == 1 && cleaned == 1 && own == 7);
    pthread_create(&t, NULL, is_cancelled, NULL);
    CHECK(pthread_cancel(t) == 0 && pthread_join(t, &value) == 0 && value == PTHREAD_CANCELED && cleaned == 11);
    pthread_create(&t, NULL, is_cancelled_waiting, NULL);
    CHECK(pthread_cancel(t) == 0 && pthread_join(t, &value) == 0 && value == PTHREAD_CANCELED);
    CHECK(pthread_mutex_lock(&checking) == 0 && pthread_mutex_unlock(&checking) == 0);
    pthread_create(&t, NULL, detached, &never);
    CHECK(pthread_detach(t) == 0 && pthread_join(t, NULL) == EINVAL);
    CHECK(sem_wait(&never) == 0);
}

static void test_c11(void)
{
    thrd_t t;
    int value;
    mtx_init(&c11, mtx_plain);
    cnd_init(&c11_changed);
    CHECK(thrd_create(&t, c11_thread, (void *)3) == thrd_success);
    mtx_lock(&c11);
    while (!c11_ready)
        CHECK(cnd_wait(&c11_changed, &c11) == thrd_success);
    CHECK(mtx_trylock(&c11) == thrd_busy);
    mtx_unlock(&c11);
    call_once(&c11_once, c11_run);
    CHECK(thrd_join(t, &value) == thrd_success && value == 3 && c11_ran == 1);
}

static void test_exclusion(void)
{
    pthread_spin_init(&spin, 0);
    pair(mutexes, mutexes);
    pair(reads_and_writes, reads_and_writes);
    CHECK(readers == 0 && writers == 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {{"exclusion", test_exclusion}, {"robustness", robustness}, {"conditions", test_conditions},
                 {"counting", test_counting},   {"ends", test_ends},        {"c11", test_c11}};
    init_mutexes();
    for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++)
        if (argc < 2 || !strcmp(argv[1], tests[i].name))
            tests[i].run();
    puts("all is well");
    return 0;
}
