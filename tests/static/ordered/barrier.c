/* A barrier made by hand, with generations. BROKEN 1: one of two is missing. 2: nobody waits in it. */
#include <pthread.h>
#include <stdio.h>
enum { N = 4, ROUNDS = 10 };
struct barrier {
    pthread_mutex_t lock;
    pthread_cond_t next;
    int waiting, generation, parties;
};
static struct barrier barrier = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, N};
static double cells[N], old[N];

static void meet(struct barrier *b)
{
    pthread_mutex_lock(&b->lock);
    int generation = b->generation;
    if (++b->waiting == b->parties) {
        b->waiting = 0;
        b->generation++;
        pthread_cond_broadcast(&b->next);
    } else {
#if BROKEN != 2
        while (generation == b->generation)
            pthread_cond_wait(&b->next, &b->lock);
#endif
    }
    pthread_mutex_unlock(&b->lock);
}

static void *worker(void *arg)
{
    long me = (long)arg;
    for (int round = 0; round < ROUNDS; round++) {
        old[me] = cells[me];
        meet(&barrier);
        cells[me] = (old[(me + 1) % N] + old[(me + N - 1) % N]) / 2;
#if BROKEN != 1
        meet(&barrier);
#endif
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        cells[i] = i;
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    printf("%f\n", cells[0]);
    return 0;
}
