/* What main does at one place of the source stands at two places of the program, as the function is inlined twice: one
 * race to its reader. The look at another variable is another one. */
#include "order.h"

#include <pthread.h>
#include <stdio.h>

int totals[2], looked;

static inline void add(int i, int n)
{
    totals[i] += n;
}

static void *writer(void *arg)
{
    for (volatile int i = 0; i < 2; i++)
        totals[i] = 1;
    looked = 1;
    step_done(0);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    wait_step(0);
    add(0, 1);
    puts("between");
    add(1, 2);
    int seen = looked;
    pthread_join(t, NULL);
    printf("%d\n", totals[0] + totals[1] + seen);
    return 0;
}
