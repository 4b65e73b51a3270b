/* What was locked, counted and written before the first thread was created still is.
 * drive: --schedules=300
 * expect: ends: done 300$ */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t s;
static int value, ran;

static void run(void)
{
    ran++;
}

static void *looks(void *a)
{
    if (sem_trywait(&s) || sem_trywait(&s) || !sem_trywait(&s))
        abort();
    pthread_once(&once, run);
    pthread_rwlock_wrlock(&rw);
    pthread_mutex_lock(&m);
    if (value != 3 || ran != 1)
        abort();
    value = 4;
    pthread_mutex_unlock(&m);
    pthread_rwlock_unlock(&rw);
    return a;
}

int main(void)
{
    pthread_t t;
    sem_init(&s, 0, 2);
    pthread_once(&once, run);
    pthread_mutex_lock(&m);
    pthread_rwlock_rdlock(&rw);
    value = 1;
    pthread_create(&t, 0, looks, 0);
    value = 3;
    pthread_rwlock_unlock(&rw);
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    if (value != 4)
        abort();
}
