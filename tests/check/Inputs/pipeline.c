/* Pipeline of three stages over bounded queues (semaphores). The queue's slot index is advanced outside of its mutex
 * with two filters in the middle stage: lost or doubled items. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { SLOTS = 2, ITEMS = 8, FILTERS = 2 };
struct queue {
    sem_t room, filled;
    pthread_mutex_t lock;
    int in, out, at[SLOTS];
} raw, cooked;

static void init(struct queue *q)
{
    sem_init(&q->room, 0, SLOTS);
    sem_init(&q->filled, 0, 0);
    pthread_mutex_init(&q->lock, NULL);
}

static void put(struct queue *q, int v)
{
    sem_wait(&q->room);
    pthread_mutex_lock(&q->lock);
    q->at[q->in] = v;
    q->in = (q->in + 1) % SLOTS;
    pthread_mutex_unlock(&q->lock);
    sem_post(&q->filled);
}

static int get(struct queue *q)
{
    sem_wait(&q->filled);
#ifdef FIXED
    pthread_mutex_lock(&q->lock);
    int v = q->at[q->out];
    q->out = (q->out + 1) % SLOTS;
    pthread_mutex_unlock(&q->lock);
#else
    pthread_mutex_lock(&q->lock);
    int at = q->out;
    pthread_mutex_unlock(&q->lock);
    int v = q->at[at];
    pthread_mutex_lock(&q->lock);
    q->out = (at + 1) % SLOTS;
    pthread_mutex_unlock(&q->lock);
#endif
    sem_post(&q->room);
    return v;
}

static void *produce(void *arg)
{
    (void)arg;
    for (int i = 1; i <= ITEMS; i++)
        put(&raw, i);
    for (int i = 0; i < FILTERS; i++)
        put(&raw, 0);
    return NULL;
}

static void *filter(void *arg)
{
    (void)arg;
    for (int v; (v = get(&raw)) != 0;)
        put(&cooked, v * 2);
    put(&cooked, 0);
    return NULL;
}

int main(void)
{
    pthread_t p, f[FILTERS];
    long sum = 0;
    init(&raw);
    init(&cooked);
    pthread_create(&p, NULL, produce, NULL);
    for (int i = 0; i < FILTERS; i++)
        pthread_create(&f[i], NULL, filter, NULL);
    for (int ended = 0, v; ended < FILTERS;)
        if ((v = get(&cooked)) == 0)
            ended++;
        else
            sum += v;
    pthread_join(p, NULL);
    for (int i = 0; i < FILTERS; i++)
        pthread_join(f[i], NULL);
    printf("sum %ld\n", sum);
    return sum != ITEMS * (ITEMS + 1);
}
