/* Buffers from a free list; made when it is empty, given back when done. BROKEN 1: used after it was given back. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct buffer {
    struct buffer *next;
    size_t used;
    char bytes[256];
};
static struct { pthread_mutex_t lock; struct buffer *free; } pool = {PTHREAD_MUTEX_INITIALIZER, NULL};

static struct buffer *buffer_get(void)
{
    pthread_mutex_lock(&pool.lock);
    struct buffer *b = pool.free;
    if (b)
        pool.free = b->next;
    pthread_mutex_unlock(&pool.lock);
    if (!b)
        b = malloc(sizeof *b);
    b->used = 0;
    return b;
}

static void buffer_put(struct buffer *b)
{
    pthread_mutex_lock(&pool.lock);
    b->next = pool.free;
    pool.free = b;
    pthread_mutex_unlock(&pool.lock);
}

static void *session(void *arg)
{
    long total = 0;
    for (int i = 0; i < 50; i++) {
        struct buffer *b = buffer_get();
        b->used = (size_t)snprintf(b->bytes, sizeof b->bytes, "%p %d", arg, i);
#if BROKEN == 1
        buffer_put(b);
        total += (long)b->used;
#else
        total += (long)b->used;
        buffer_put(b);
#endif
    }
    return (void *)total;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, session, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
