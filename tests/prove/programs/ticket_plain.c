/* A ticket lock whose tickets are drawn by a load and a store: two threads draw the same number and are let in
 * together.
 * Expected: race on `served` at `serve`. */
#include "threads.h"

#include <sched.h>
#include <stdatomic.h>

static atomic_int next_ticket, now_serving;
static int served;

static int draw(void)
{
#ifdef FIXED
    return atomic_fetch_add(&next_ticket, 1);
#else
    int mine = next_ticket;
    next_ticket = mine + 1;
    return mine;
#endif
}

static void *customer(void *arg)
{
    int mine = draw();
    while (now_serving < mine)
        sched_yield();
    served++; /* serve */
    now_serving = mine + 1;
    return arg;
}

int main(void)
{
    RUN(customer, customer);
    return 0;
}
