/* A request on the stack of who asks, with its own completion. BROKEN 1: completed before the answer. 2: not waited for. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct completion {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int done;
};
struct request {
    int question;
    int answer;
    struct completion completion;
    struct request *next;
};
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_cond = PTHREAD_COND_INITIALIZER;
static struct request *queue;

static void complete(struct completion *c)
{
    pthread_mutex_lock(&c->lock);
    c->done = 1;
    pthread_cond_signal(&c->cond);
    pthread_mutex_unlock(&c->lock);
}

static void wait_for(struct completion *c)
{
    pthread_mutex_lock(&c->lock);
    while (!c->done)
        pthread_cond_wait(&c->cond, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static void *server(void *arg)
{
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&queue_lock);
        while (!queue)
            pthread_cond_wait(&queue_cond, &queue_lock);
        struct request *r = queue;
        queue = r->next;
        pthread_mutex_unlock(&queue_lock);
        if (r->question < 0)
            return NULL;
#if BROKEN == 1
        complete(&r->completion);
        r->answer = r->question * 2;
#else
        r->answer = r->question * 2;
        complete(&r->completion);
#endif
    }
}

static int ask(int question)
{
    struct request *r = calloc(1, sizeof *r);
    pthread_mutex_init(&r->completion.lock, NULL);
    pthread_cond_init(&r->completion.cond, NULL);
    r->question = question;
    pthread_mutex_lock(&queue_lock);
    r->next = queue;
    queue = r;
    pthread_cond_signal(&queue_cond);
    pthread_mutex_unlock(&queue_lock);
#if BROKEN != 2
    wait_for(&r->completion);
#endif
    return r->answer;
}

static void *client(void *arg)
{
    for (int i = 0; i < 10; i++)
        printf("%d\n", ask((int)(long)arg + i));
    return NULL;
}

int main(void)
{
    pthread_t s, c[2];
    pthread_create(&s, NULL, server, NULL);
    for (long i = 0; i < 2; i++)
        pthread_create(&c[i], NULL, client, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(c[i], NULL);
    return 0;
}
