// Peterson's lock with sequentially consistent accesses.
// WRONG: counter -DORDER=relaxed
#include "litmus.h"
#include <sched.h>
#ifndef ORDER
#define ORDER seq_cst
#endif

static atomic_int wants[2], turn;
static int counter;

static void enter(int me)
{
    STORE(wants[me], 1, ORDER);
    STORE(turn, !me, ORDER);
    while (LOAD(wants[!me], ORDER) && LOAD(turn, ORDER) == !me)
        sched_yield();
}

static void *worker(void *arg)
{
    int me = (int)(uintptr_t)arg;
    invisible_await(me);
    for (int i = 0; i < 200; i++) {
        enter(me);
        counter++;
        STORE(wants[me], 0, ORDER);
        if (i == 0)
            invisible_reach(me + 1);
    }
    return NULL;
}

int main(void)
{
    TOGETHER(worker, worker);
    printf("%d\n", counter > 0);
    return 0;
}
