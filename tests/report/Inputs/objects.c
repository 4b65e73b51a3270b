/* The worker touches main's variable, main touches the worker's thread-local one and what it freed. */
#include "order.h"

#include <pthread.h>
#include <stdlib.h>

void count(int n);

static _Thread_local int mine;
static int *to_mine, *to_local, *freed;

static int deep(int n)
{
    if (n)
        return deep(n - 1) + 1;
    return ++*to_local;
}

static void *worker(void *arg)
{
    to_mine = &mine;
    mine = 1;
    count(2);
    deep(300);
    free(freed);
    step_done(0);
    wait_step(1);
    return arg;
}

int main(void)
{
    pthread_t t;
    int local = 0;
    void *result;
    to_local = &local;
    freed = malloc(40);
    freed[3] = 1;
    pthread_create(&t, NULL, worker, NULL);
    wait_step(0);
    count(1);
    ++*to_mine;
    local += 5;
    freed[3]++;
    step_done(1);
    pthread_join(t, &result);
    return local;
}
