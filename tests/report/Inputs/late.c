/* A thread writes what main wrote, after main has returned; with an argument, long after. */
#include "order.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int v;

static void *late(void *x)
{
    if (x)
        pause();
    wait_step(0);
    v = 2;
    return x;
}

static void main_has_returned(void)
{
    step_done(0);
}

int main(int argc, char **argv)
{
    pthread_t t;
    atexit(main_has_returned);
    pthread_create(&t, NULL, late, argc > 1 ? argv : NULL);
    v = 1;
    return 0;
}
