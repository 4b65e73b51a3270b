/* One thread takes away what the other looked at: a null pointer is followed, in some schedules only.
 * drive: --schedules=3000 --extend
 * expect: found crash: .*signal 11 about 0x8
 * expect: ends: done [1-9]
 * replay: found (crash|race|unordered) */
#include <pthread.h>
#include <stdlib.h>

struct node {
    long unused;
    long value;
};
static struct node *shared;
static long sum;

static void *reader(void *a)
{
    if (shared)
        sum += shared->value;
    return a;
}

static void *remover(void *a)
{
    shared = NULL;
    return a;
}

int main(void)
{
    pthread_t one, other;
    shared = calloc(1, sizeof *shared);
    pthread_create(&one, 0, reader, 0);
    pthread_create(&other, 0, remover, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
}
