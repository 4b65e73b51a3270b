/* Main frees the box that the reader still reads, and a signal handler sets what the reader looks at. */
#include "box.h"
#include "order.h"

#include <signal.h>

static int stopped;
static volatile int seen;

static void stop(int signal)
{
    stopped = signal;
}

static void *reader(void *arg)
{
    struct box *b = arg;
    seen = b->letters[2] + stopped;
    step_done(0);
    wait_step(1);
    return arg;
}

int main(void)
{
    pthread_t t;
    signal(SIGUSR1, stop);
    struct box *b = box_new();
    if (box_open(&t, reader, b) != 0)
        return 1;
    wait_step(0);
    raise(SIGUSR1);
    box_free(b);
    step_done(1);
    pthread_join(t, NULL);
    return 0;
}
