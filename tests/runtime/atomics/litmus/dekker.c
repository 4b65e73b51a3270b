// Dekker's entry protocol: store, full fence, load. A thread that finds the other's flag down goes in. The first round is
// forced, one after the other, so that both have been in once whatever the scheduler does; the rest is contended.
// TSAN: fences
// RIGHT: -DFENCED
// WRONG: shared -DLEAVE=relaxed
// WRONG: shared -DFENCED -DLEAVE=relaxed
#include "litmus.h"
#ifndef LEAVE
#define LEAVE release
#endif
#ifdef FENCED
#define ACCESS relaxed
#define SEPARATE FENCE(seq_cst)
#else
#define ACCESS seq_cst
#define SEPARATE
#endif

static atomic_int flag[2];
static int shared, entries[2];

static void try_enter(int me)
{
    STORE(flag[me], 1, ACCESS);
    SEPARATE;
    if (!LOAD(flag[!me], ACCESS)) {
        FENCE(acquire);
        shared++;
        entries[me]++;
    }
    STORE(flag[me], 0, LEAVE);
}

static void *worker(void *arg)
{
    int me = (int)(uintptr_t)arg;
    invisible_await(me);
    try_enter(me);
    invisible_reach(me + 1);
    invisible_await(2);
    for (int i = 0; i < 200; i++)
        try_enter(me);
    return NULL;
}

int main(void)
{
    TOGETHER(worker, worker);
    printf("%d\n", entries[0] > 0 && entries[1] > 0 && shared > 1);
    return 0;
}
