/* A pool: the poster counts the items that it adds without the lock that workers hold. A worker gives the lock back
 * while it works, takes it again and looks at the count: those are two steps of its own. */
#include <pthread.h>
#include <stdio.h>

enum { POSTS = 3 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int items, taken, again, is_closed;

static void acquire(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
}

static void release(pthread_mutex_t *m)
{
    pthread_mutex_unlock(m);
}

static void *worker(void *arg)
{
    acquire(&mutex);
    for (;;) {
        while (!items && !is_closed)
            pthread_cond_wait(&cond, &mutex);
        if (!items)
            break;
        items--;
        taken++;
        release(&mutex);
        acquire(&mutex);
        if (items)
            again++;
    }
    release(&mutex);
    return arg;
}

static void post(void)
{
#ifdef FIXED
    acquire(&mutex);
    items++;
#else
    items++;
    acquire(&mutex);
#endif
    pthread_cond_signal(&cond);
    release(&mutex);
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    for (int i = 0; i < POSTS; i++)
        post();
    acquire(&mutex);
    is_closed = 1;
    pthread_cond_signal(&cond);
    release(&mutex);
    pthread_join(thread, NULL);
    printf("%d\n", taken + items);
    return taken + items != POSTS;
}
