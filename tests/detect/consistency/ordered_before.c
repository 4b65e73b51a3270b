/* What is written before the other thread starts is in order with all that it does, and still the first of two
 * accesses of one call between which the other writes.
 * Expected: an observed atomicity on `state`. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>

static int state;

static void *changer(void *arg)
{
    state = 2;
    invisible_reach(1);
    return arg;
}

static int run(int first)
{
    pthread_t thread;
    state = first;
    pthread_create(&thread, NULL, changer, NULL);
    invisible_await(1);
    int seen = state;
    pthread_join(thread, NULL);
    return seen;
}

int main(void)
{
    printf("%d\n", run(1));
    return 0;
}
