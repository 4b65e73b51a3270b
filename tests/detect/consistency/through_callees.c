/* `move` accesses nothing itself; its two callees work on its own object, so their accesses belong together.
 * Expected: atomicity observed at `read` and `write`. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>

struct counter {
    long hits, total;
};

static struct counter shared;

/* While the first one thinks, the second does all of it; no detector sees why. */
static void think(long me)
{
    if (me == 0) {
        invisible_reach(1);
        invisible_await(2);
    }
}

static __attribute__((noinline)) long get(const struct counter *c)
{
    return c->hits; /* read */
}

static __attribute__((noinline)) void set(struct counter *c, long hits)
{
    c->hits = hits; /* write */
}

static __attribute__((noinline)) void move(struct counter *c, long me)
{
    long hits = get(c);
    think(me);
    set(c, hits + 1);
}

static void *worker(void *arg)
{
    long me = (long)arg;
    invisible_await((int)me);
    move(&shared, me);
    invisible_reach((int)me + 1);
    return NULL;
}

int main(void)
{
    pthread_t workers[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    puts("closed");
    return 0;
}
