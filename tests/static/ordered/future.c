/* A pool of threads with tasks and futures made by hand. BROKEN 1: the result comes after the word that it is there.
 * 2: taken without waiting. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct task {
    struct task *next;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int done, input;
    long result;
};
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static struct task *head;
static int stopping;

static struct task *submit(int input)
{
    struct task *t = calloc(1, sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->finished, NULL);
    t->input = input;
    pthread_mutex_lock(&queue_lock);
    t->next = head;
    head = t;
    pthread_cond_signal(&queue_filled);
    pthread_mutex_unlock(&queue_lock);
    return t;
}

static struct task *take(void)
{
    pthread_mutex_lock(&queue_lock);
    while (!head && !stopping)
        pthread_cond_wait(&queue_filled, &queue_lock);
    struct task *t = head;
    if (t)
        head = t->next;
    pthread_mutex_unlock(&queue_lock);
    return t;
}

static void complete(struct task *t)
{
    pthread_mutex_lock(&t->lock);
    t->done = 1;
    pthread_cond_signal(&t->finished);
    pthread_mutex_unlock(&t->lock);
}

static void *worker(void *arg)
{
    struct task *t;
    (void)arg;
    while ((t = take())) {
        long value = 0;
        for (int i = 0; i < t->input; i++)
            value += i;
#if BROKEN == 1
        complete(t);
        t->result = value;
#else
        t->result = value;
        complete(t);
#endif
    }
    return NULL;
}

static long get(struct task *t)
{
#if BROKEN != 2
    pthread_mutex_lock(&t->lock);
    while (!t->done)
        pthread_cond_wait(&t->finished, &t->lock);
    pthread_mutex_unlock(&t->lock);
#endif
    return t->result;
}

int main(void)
{
    pthread_t threads[3];
    struct task *tasks[8];
    long sum = 0;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 8; i++)
        tasks[i] = submit(100 * i);
    for (int i = 0; i < 8; i++)
        sum += get(tasks[i]);
    pthread_mutex_lock(&queue_lock);
    stopping = 1;
    pthread_cond_broadcast(&queue_filled);
    pthread_mutex_unlock(&queue_lock);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", sum);
    return 0;
}
