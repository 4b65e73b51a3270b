// Mutexes of all types, rwlock, spinlock, barrier, semaphore, once, keys, condition with timeout, thread attributes.
// FLAGS: -pthread
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive, checking;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t sem;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int total, spun, onces, destroyed, table[4];

static void only_once(void)
{
    onces++;
}
static void destroy(void *p)
{
    pthread_mutex_lock(&plain);
    destroyed += *(int *)p;
    pthread_mutex_unlock(&plain);
    free(p);
}
static void *worker(void *arg)
{
    int id = (int)(long)arg, *own = malloc(sizeof *own);
    *own = id + 1;
    pthread_once(&once, only_once);
    pthread_setspecific(key, own);
    for (int i = 0; i < 500; i++) {
        pthread_mutex_lock(&plain);
        total++;
        pthread_mutex_unlock(&plain);
        pthread_spin_lock(&spin);
        spun++;
        pthread_spin_unlock(&spin);
    }
    table[id] = id * 10;
    int serial = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    pthread_rwlock_rdlock(&rw);
    int sum = table[0] + table[1] + table[2] + table[3];
    pthread_rwlock_unlock(&rw);
    sem_post(&sem);
    return (void *)(long)(sum + serial * 1000);
}

int main(void)
{
    pthread_mutexattr_t ma;
    pthread_mutexattr_init(&ma);
    pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &ma);
    pthread_mutexattr_settype(&ma, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &ma);
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, 4);
    sem_init(&sem, 0, 0);
    pthread_key_create(&key, destroy);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    pthread_t t[4];
    long sum = 0;
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], &attr, worker, (void *)i);
    for (int i = 0; i < 4; i++)
        sem_wait(&sem);
    for (int i = 0; i < 4; i++) {
        void *r;
        pthread_join(t[i], &r);
        sum += (long)r;
    }
    printf("%d %d %d %d %ld\n", total, spun, onces, destroyed, sum);
    pthread_mutex_lock(&recursive);
    printf("%d", pthread_mutex_lock(&recursive));
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_lock(&checking);
    printf(" %d %d", pthread_mutex_lock(&checking) == EDEADLK, pthread_mutex_trylock(&checking) == EBUSY);
    pthread_cond_t cond;
    pthread_cond_init(&cond, NULL);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    printf(" %d", pthread_cond_timedwait(&cond, &checking, &soon) == ETIMEDOUT);
    pthread_mutex_unlock(&checking);
    printf(" %d\n", pthread_mutex_unlock(&checking) == EPERM);
    return 0;
}
