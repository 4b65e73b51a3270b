// A message is published by a release store and taken by an acquire load.
// WRONG: data -DPUBLISH=relaxed
// WRONG: data -DTAKE=relaxed
// RIGHT: -DPUBLISH=seq_cst -DTAKE=seq_cst
// RIGHT: -DTAKE=consume
#include "litmus.h"
#ifndef PUBLISH
#define PUBLISH release
#endif
#ifndef TAKE
#define TAKE acquire
#endif

static int data;
static atomic_int ready;

static void *writer(void *arg)
{
    (void)arg;
    data = 42;
    STORE(ready, 1, PUBLISH);
    invisible_reach(1);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    invisible_await(1);
    while (!LOAD(ready, TAKE))
        ;
    printf("%d\n", data);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, reader);
    return 0;
}
