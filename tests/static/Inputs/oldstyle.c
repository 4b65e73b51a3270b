/* Functions called through a pointer of another type, as old programs do: one that takes nothing and returns a number
 * among those that are given one. What it counts is counted by two threads. -DFIXED: it counts nothing. */
#include <pthread.h>

static long calls;
static __thread long own;

typedef void handler(int, int);

static void quiet(int signal, int again)
{
    own += signal + again;
}

static int count()
{
#ifndef FIXED
    calls++;
#endif
    return 1;
}

static handler *table[2];

static void *worker(void *unused)
{
    for (int n = 0; n < 2; n++)
        table[n](n, 1);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    table[0] = quiet;
    table[1] = (handler *)count;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return calls == 0;
}
