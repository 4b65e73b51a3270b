/* A thread's own variables, on its stack and thread-local, are gone when it has ended; who still has their address uses
 * freed memory.
 * drive: --schedules=300
 * expect: found use-after-free
 * expect: ends: done [1-9]
 * replay: found (use-after-free|unordered) */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static __thread int own;
static _Atomic(int *) lent;
static int seen;

static void *lends(void *a)
{
    own = 5;
    lent = &own;
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, lends, 0);
    int *other = lent;
    if (other)
        seen = *other;
    pthread_join(t, 0);
    return 0;
}
