// An atomic is initialised by a plain store before anybody knows it, or too late.
// WRONG: count -DTOO_LATE
#include "litmus.h"
#include <stdlib.h>

struct counter {
    atomic_int count;
};
static struct counter *c;

static void *adder(void *arg)
{
    (void)arg;
#ifdef TOO_LATE
    invisible_await(1);
#endif
    ADD(c->count, 1, seq_cst);
    return NULL;
}

static void *late(void *arg)
{
    (void)arg;
#ifdef TOO_LATE
    atomic_init(&c->count, 3);
    invisible_reach(1);
#endif
    return NULL;
}

int main(void)
{
    c = malloc(sizeof *c);
    atomic_init(&c->count, 3);
    TOGETHER(adder, late);
    printf("%d\n", LOAD(c->count, relaxed) > 3);
    free(c);
    return 0;
}
