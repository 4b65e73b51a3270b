// The last of two owners uses what the other left: the count is dropped with release, and acquired by the last.
// TSAN: fences
// RIGHT: -DDROP=acq_rel -DLAST=relaxed
// WRONG: value -DDROP=relaxed
// WRONG: value -DLAST=relaxed
#include "litmus.h"
#include <stdlib.h>
#ifndef DROP
#define DROP release
#endif
#ifndef LAST
#define LAST acquire
#endif

struct object {
    atomic_int owners;
    int value;
};
static struct object *object;

static void drop(struct object *o)
{
    if (atomic_fetch_sub_explicit(&o->owners, 1, DROP) != 1)
        return;
    FENCE(LAST);
    printf("%d\n", o->value++);
}

static void *user(void *arg)
{
    (void)arg;
    object->value = 6;
    drop(object);
    invisible_reach(1);
    return NULL;
}

static void *last_user(void *arg)
{
    (void)arg;
    invisible_await(1);
    drop(object);
    return NULL;
}

int main(void)
{
    object = calloc(1, sizeof *object);
    object->owners = 2;
    TOGETHER(user, last_user);
    free(object);
    return 0;
}
