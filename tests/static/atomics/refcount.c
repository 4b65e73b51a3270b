// suspect: hits
// The last one to drop a reference reads what all have left behind; broken: references are dropped without order.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef BROKEN
#define DROP memory_order_relaxed
#else
#define DROP memory_order_acq_rel
#endif

struct session {
    atomic_int references;
    atomic_flag busy;
    long hits[2];
};

static void put(struct session *s)
{
    if (atomic_fetch_sub_explicit(&s->references, 1, DROP) == 1) {
        printf("%ld\n", s->hits[0] + s->hits[1]);
        free(s);
    }
}

static void *left(void *arg)
{
    struct session *s = arg;
    s->hits[0]++;
    put(s);
    return 0;
}

static void *right(void *arg)
{
    struct session *s = arg;
    s->hits[1]++;
    put(s);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    struct session *s = calloc(1, sizeof *s);
    atomic_init(&s->references, 2);
    pthread_create(&a, 0, left, s);
    pthread_create(&b, 0, right, s);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
