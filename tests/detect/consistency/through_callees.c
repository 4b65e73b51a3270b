/* `move` accesses nothing itself; its two callees work on its own object, so their accesses belong together.
 * Expected: atomicity observed at `read` and `write`. */
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct counter {
    long hits, total;
};

static struct counter shared;

/* Of no interest to anybody but the scheduler. */
static void think(void)
{
    struct timespec nap = {0, 2000000};
    syscall(SYS_nanosleep, &nap, NULL);
}

static __attribute__((noinline)) long get(const struct counter *c)
{
    return c->hits; /* read */
}

static __attribute__((noinline)) void set(struct counter *c, long hits)
{
    c->hits = hits; /* write */
}

static __attribute__((noinline)) void move(struct counter *c)
{
    long hits = get(c);
    think();
    set(c, hits + 1);
}

static void *worker(void *arg)
{
    for (int i = 0; i < 50; i++)
        move(&shared);
    return arg;
}

int main(void)
{
    pthread_t workers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    puts("closed");
    return 0;
}
