/* A wait group: main goes on when all workers have counted down. BROKEN 1: counts down before the work is done.
 * 2: a flag where there are many. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { WORKERS = 4 };
struct group {
    pthread_mutex_t lock;
    pthread_cond_t zero;
    int left;
};
static struct group group = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static long *totals;

static void group_add(struct group *g, int n)
{
    pthread_mutex_lock(&g->lock);
    g->left += n;
    pthread_mutex_unlock(&g->lock);
}

static void group_done(struct group *g)
{
    pthread_mutex_lock(&g->lock);
#if BROKEN == 2
    g->left = 0;
    pthread_cond_broadcast(&g->zero);
#else
    if (--g->left == 0)
        pthread_cond_broadcast(&g->zero);
#endif
    pthread_mutex_unlock(&g->lock);
}

static void group_wait(struct group *g)
{
    pthread_mutex_lock(&g->lock);
    while (g->left > 0)
        pthread_cond_wait(&g->zero, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void *worker(void *arg)
{
    long me = (long)arg;
#if BROKEN == 1
    group_done(&group);
#endif
    for (long i = 0; i < 1000; i++)
        totals[me] += i;
#if BROKEN != 1
    group_done(&group);
#endif
    return NULL;
}

int main(void)
{
    long all = 0;
    totals = calloc(WORKERS, sizeof *totals);
    group_add(&group, WORKERS);
    for (long i = 0; i < WORKERS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, worker, (void *)i);
        pthread_detach(thread);
    }
    group_wait(&group);
    for (int i = 0; i < WORKERS; i++)
        all += totals[i];
    printf("%ld\n", all);
    return 0;
}
