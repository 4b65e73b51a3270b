/* What main does in one statement reads and writes, both against the writer's access: one race to its reader. The
 * look on the next line is another. */
#include "order.h"

#include <pthread.h>
#include <stdio.h>

int total, looked;

__attribute__((noinline)) int amount(void)
{
    static volatile int n = 3;
    return n;
}

static void *writer(void *arg)
{
    total = 1;
    looked = 1;
    step_done(0);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    wait_step(0);
    total += amount();
    int seen = looked;
    pthread_join(t, NULL);
    printf("%d\n", total + seen);
    return 0;
}
