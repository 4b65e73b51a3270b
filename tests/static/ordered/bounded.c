/* A bounded queue of pointers: items are filled before they are put in, used after they were taken out.
 * BROKEN 1: filled after it was put in. 2: the producer counts in the item when it is gone. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
enum { SIZE = 8 };
struct item {
    int number;
    char text[32];
};
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    struct item *items[SIZE];
    int first, count;
};
static struct queue queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0};

static void put(struct queue *q, struct item *i)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == SIZE)
        pthread_cond_wait(&q->not_full, &q->lock);
    q->items[(q->first + q->count++) % SIZE] = i;
    pthread_cond_signal(&q->not_empty);
    pthread_mutex_unlock(&q->lock);
}

static struct item *get(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->not_empty, &q->lock);
    struct item *i = q->items[q->first];
    q->first = (q->first + 1) % SIZE;
    q->count--;
    pthread_cond_signal(&q->not_full);
    pthread_mutex_unlock(&q->lock);
    return i;
}

static void *producer(void *arg)
{
    (void)arg;
    for (int n = 0; n < 20; n++) {
        struct item *i = malloc(sizeof *i);
#if BROKEN != 1
        i->number = n;
#endif
        snprintf(i->text, sizeof i->text, "item %d", n);
        put(&queue, i);
#if BROKEN == 1
        i->number = n;
#elif BROKEN == 2
        i->number++;
#endif
    }
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    for (int n = 0; n < 20; n++) {
        struct item *i = get(&queue);
        printf("%d %s\n", i->number, i->text);
        i->number = 0;
        free(i);
    }
    return NULL;
}

int main(void)
{
    pthread_t p[2], c[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&p[i], NULL, producer, NULL);
        pthread_create(&c[i], NULL, consumer, NULL);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(p[i], NULL);
        pthread_join(c[i], NULL);
    }
    return 0;
}
