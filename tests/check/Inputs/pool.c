/* Thread pool: the "stopping" flag is set without the queue's lock, and the broadcast can be lost (worker tests the
 * flag, is about to wait). FIXED takes the lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    struct job *next;
    int n;
};
static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t some;
    struct job *head, **tail;
    int stopping, done;
    long sum;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &pool.head, 0, 0, 0};

static void *worker(void *arg)
{
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&pool.lock);
        while (!pool.head && !pool.stopping)
            pthread_cond_wait(&pool.some, &pool.lock);
        struct job *j = pool.head;
        if (!j) {
            pthread_mutex_unlock(&pool.lock);
            return NULL;
        }
        pool.head = j->next;
        if (!pool.head)
            pool.tail = &pool.head;
        pthread_mutex_unlock(&pool.lock);
        long square = (long)j->n * j->n;
        free(j);
        pthread_mutex_lock(&pool.lock);
        pool.sum += square;
        pool.done++;
        pthread_mutex_unlock(&pool.lock);
    }
}

static void submit(int n)
{
    struct job *j = malloc(sizeof *j);
    *j = (struct job){NULL, n};
    pthread_mutex_lock(&pool.lock);
    *pool.tail = j;
    pool.tail = &j->next;
    pthread_cond_signal(&pool.some);
    pthread_mutex_unlock(&pool.lock);
}

static void stop(void)
{
#ifdef FIXED
    pthread_mutex_lock(&pool.lock);
#endif
    pool.stopping = 1;
#ifdef FIXED
    pthread_mutex_unlock(&pool.lock);
#endif
    pthread_cond_broadcast(&pool.some);
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 1; i <= 6; i++)
        submit(i);
    stop();
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%d jobs, sum %ld\n", pool.done, pool.sum);
    return pool.done != 6 || pool.sum != 91;
}
