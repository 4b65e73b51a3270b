/* The owner of a work-stealing queue takes the last task without asking whether a thief is about to have it.
 * Expected: assertion at `done twice`. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>

enum { TASKS = 2 };

static atomic_int top, bottom = TASKS;
static atomic_int done[TASKS];

static void perform(int task)
{
    int before = atomic_fetch_add(&done[task], 1);
    assert(!before); /* done twice */
}

static void take(void)
{
    int b = --bottom, t = top;
    if (t > b) {
        bottom = b + 1;
        return;
    }
#ifdef FIXED
    if (t == b) {
        int won = atomic_compare_exchange_strong(&top, &t, t + 1);
        bottom = b + 1;
        if (!won)
            return;
    }
#endif
    perform(b);
}

static void steal(void)
{
    int t = top;
    if (t < bottom && atomic_compare_exchange_strong(&top, &t, t + 1))
        perform(t);
}

static void *owner(void *arg)
{
    for (int i = 0; i < TASKS; i++)
        take();
    return arg;
}

static void *thief(void *arg)
{
    steal();
    return arg;
}

int main(void)
{
    RUN(owner, thief);
    return 0;
}
