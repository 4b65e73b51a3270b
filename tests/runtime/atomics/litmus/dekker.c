// Dekker's entry protocol: store, full fence, load. Whoever finds the other's flag down goes in.
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
    for (int i = 0; i < 200; i++)
        try_enter(me);
    return NULL;
}

int main(void)
{
    TOGETHER(worker, worker);
    printf("%d\n", entries[0] > 0 && shared > 0);
    return 0;
}
