// Messages published by a fence before a relaxed store, and taken by a fence after a relaxed load: both, and each with
// TSAN: fences
// its counterpart on the other side.
// RIGHT: -DBEFORE=seq_cst -DAFTER=seq_cst
// RIGHT: -DBEFORE=acq_rel -DAFTER=acq_rel
// WRONG: fenced -DBEFORE=relaxed
// WRONG: fenced -DAFTER=relaxed
// WRONG: fenced -DBEFORE=acquire
// WRONG: fenced -DAFTER=release
// WRONG: before_only -DBEFORE=relaxed
// WRONG: after_only -DAFTER=relaxed
#include "litmus.h"
#ifndef BEFORE
#define BEFORE release
#endif
#ifndef AFTER
#define AFTER acquire
#endif

static int fenced, before_only, after_only;
static atomic_int ready[3];

static void *writer(void *arg)
{
    (void)arg;
    fenced = 1;
    before_only = 2;
    FENCE(BEFORE);
    STORE(ready[0], 1, relaxed);
    STORE(ready[1], 1, relaxed);
    after_only = 4;
    STORE(ready[2], 1, release);
    invisible_reach(1);
    return NULL;
}

static void *fenced_reader(void *arg)
{
    (void)arg;
    invisible_await(1);
    while (!LOAD(ready[0], relaxed))
        ;
    FENCE(AFTER);
    printf("%d\n", fenced);
    invisible_reach(2);
    return NULL;
}

static void *acquiring_reader(void *arg)
{
    (void)arg;
    invisible_await(2);
    while (!LOAD(ready[1], acquire))
        ;
    printf("%d\n", before_only);
    invisible_reach(3);
    return NULL;
}

static void *released_reader(void *arg)
{
    (void)arg;
    invisible_await(3);
    while (!LOAD(ready[2], relaxed))
        ;
    FENCE(AFTER);
    printf("%d\n", after_only);
    return NULL;
}

int main(void)
{
    TOGETHER(writer, fenced_reader, acquiring_reader, released_reader);
    return 0;
}
