/* A store is shut down while a request is served, which checks and adds in one section.
 * give() is right: it asks again before it acts. The closer waits for the first request without
 * being ordered by it, so that every run has one.
 * Expected: nothing */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

struct store {
    pthread_mutex_t lock;
    bool closed;
    long entries, spare;
};

static struct store store = {.lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_bool served;

static void serve(struct store *s)
{
    pthread_mutex_lock(&s->lock);
    if (!s->closed)
        s->entries++;
    pthread_mutex_unlock(&s->lock);
}

static long count_spare(struct store *s)
{
    pthread_mutex_lock(&s->lock);
    long n = s->spare;
    pthread_mutex_unlock(&s->lock);
    return n;
}

static void take_spare(struct store *s)
{
    pthread_mutex_lock(&s->lock);
    if (s->spare > 0)
        s->spare--;
    pthread_mutex_unlock(&s->lock);
}

static void give(struct store *s)
{
    if (count_spare(s) > 0)
        take_spare(s);
}

static void shut_down(struct store *s)
{
    pthread_mutex_lock(&s->lock);
    s->entries = 0;
    s->closed = true;
    s->spare++;
    pthread_mutex_unlock(&s->lock);
}

static void *server(void *arg)
{
    for (int i = 0; i < 50; i++) {
        serve(&store);
        give(&store);
        atomic_store_explicit(&served, true, memory_order_relaxed);
    }
    return arg;
}

static void *closer(void *arg)
{
    while (!atomic_load_explicit(&served, memory_order_relaxed))
        sched_yield();
    shut_down(&store);
    give(&store);
    return arg;
}

int main(void)
{
    pthread_t serves, closes;
    pthread_create(&serves, NULL, server, NULL);
    pthread_create(&closes, NULL, closer, NULL);
    pthread_join(serves, NULL);
    pthread_join(closes, NULL);
    puts(store.closed ? "closed" : "open");
    return 0;
}
