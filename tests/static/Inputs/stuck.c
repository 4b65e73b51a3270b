/* Threads that wait for themselves, one way for each name defined: AGAIN takes a lock it holds, UPGRADE wants to write
 * what it reads, JOIN waits for who needs the lock it holds. What looks like it and is fine: RECURSIVE, READERS,
 * JOIN_AFTER, JOIN_DONE (it has waited for the other). */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t stock_lock = PTHREAD_MUTEX_INITIALIZER, again_lock;
static pthread_rwlock_t prices_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t sold = PTHREAD_COND_INITIALIZER;
static long stock = 10, price = 3, finished;

static long count(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    long n = stock;
    pthread_mutex_unlock(lock);
    return n;
}

static void *seller(void *arg)
{
#if defined AGAIN
    pthread_mutex_lock(&stock_lock);
    stock = count(&stock_lock) - 1;
    pthread_mutex_unlock(&stock_lock);
#elif defined RECURSIVE
    pthread_mutex_lock(&again_lock);
    stock = count(&again_lock) - 1;
    pthread_mutex_unlock(&again_lock);
#else
    pthread_mutex_lock(&stock_lock);
    stock--;
    finished++;
    pthread_cond_signal(&sold);
    pthread_mutex_unlock(&stock_lock);
#endif
    return arg;
}

static void *pricer(void *arg)
{
    pthread_rwlock_rdlock(&prices_lock);
#if defined UPGRADE
    pthread_rwlock_wrlock(&prices_lock);
    pthread_rwlock_unlock(&prices_lock);
#elif defined READERS
    pthread_rwlock_rdlock(&prices_lock);
    pthread_rwlock_unlock(&prices_lock);
#endif
    printf("%ld\n", price);
    pthread_rwlock_unlock(&prices_lock);
    return arg;
}

int main(void)
{
    pthread_t first, second;
#ifdef RECURSIVE
    pthread_mutexattr_t like;
    pthread_mutexattr_init(&like);
    pthread_mutexattr_settype(&like, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&again_lock, &like);
#endif
    pthread_create(&first, NULL, seller, NULL);
    pthread_create(&second, NULL, pricer, NULL);
#if defined JOIN || defined JOIN_DONE
    pthread_mutex_lock(&stock_lock);
#ifdef JOIN_DONE
    while (!finished)
        pthread_cond_wait(&sold, &stock_lock);
#endif
    pthread_join(first, NULL);
    pthread_mutex_unlock(&stock_lock);
#else
    pthread_join(first, NULL);
#endif
    pthread_join(second, NULL);
    return (int)count(&again_lock) & 0;
}
