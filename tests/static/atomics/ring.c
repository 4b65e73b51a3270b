// suspect: slot
// A ring of one producer and one consumer as packet frameworks have them; broken: the slot is filled after the head has moved.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define SIZE 64

struct ring {
    _Alignas(64) atomic_uint head;
    _Alignas(64) atomic_uint tail;
    _Alignas(64) void *slot[SIZE];
};

static bool ring_put(struct ring *r, void *what)
{
    unsigned head = atomic_load_explicit(&r->head, memory_order_relaxed);
    unsigned tail = atomic_load_explicit(&r->tail, memory_order_acquire);
    if (head - tail == SIZE)
        return false;
#ifdef BROKEN
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    r->slot[head % SIZE] = what;
#else
    r->slot[head % SIZE] = what;
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
#endif
    return true;
}

static void *ring_get(struct ring *r)
{
    unsigned tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    if (tail == atomic_load_explicit(&r->head, memory_order_acquire))
        return 0;
    void *what = r->slot[tail % SIZE];
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
    return what;
}

static void *producer(void *arg)
{
    for (long i = 1; i < 1000; i++)
        while (!ring_put(arg, (void *)i))
            ;
    return 0;
}

static void *consumer(void *arg)
{
    long sum = 0;
    for (int i = 1; i < 1000; i++) {
        void *got;
        while (!(got = ring_get(arg)))
            ;
        sum += (long)got;
    }
    return (void *)sum;
}

int main(void)
{
    struct ring *r = aligned_alloc(64, sizeof *r);
    pthread_t p, c;
    atomic_init(&r->head, 0);
    atomic_init(&r->tail, 0);
    pthread_create(&p, 0, producer, r);
    pthread_create(&c, 0, consumer, r);
    pthread_join(p, 0);
    pthread_join(c, 0);
    return 0;
}
