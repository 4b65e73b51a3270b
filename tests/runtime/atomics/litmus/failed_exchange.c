// A compare-exchange that fails is a load with the order of failure, whatever the order of success.
// WRONG: data -DFAILURE=relaxed
// RIGHT: -DFAILURE=seq_cst
#include "litmus.h"
#ifndef FAILURE
#define FAILURE acquire
#endif

static int data;
static atomic_int state;

static void *writer(void *arg)
{
    (void)arg;
    data = 3;
    int expected = 0;
    atomic_compare_exchange_strong_explicit(&state, &expected, 1, release, relaxed);
    invisible_reach(1);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    invisible_await(1);
    int expected = 0;
    if (!atomic_compare_exchange_strong_explicit(&state, &expected, 2, seq_cst, FAILURE))
        printf("%d %d\n", expected, data);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, reader);
    return 0;
}
