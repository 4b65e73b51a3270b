/* Lamport's bakery without the sign `choosing`: a customer whose number is not on the board yet is overlooked.
 * Expected: assertion at `alone`. */
#include "threads.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int choosing[2], number[2], inside;

static void enter(long me, long other)
{
    choosing[me] = 1;
    int highest = number[other];
    number[me] = highest + 1;
    choosing[me] = 0;
#ifdef FIXED
    while (choosing[other])
        sched_yield();
#endif
    while (number[other] && (number[other] < number[me] || (number[other] == number[me] && other < me)))
        sched_yield();
}

static void *customer(void *arg)
{
    long me = (long)arg, other = 1 - me;
    enter(me, other);
    int others = inside++;
    assert(others == 0); /* alone */
    inside--;
    number[me] = 0;
    return arg;
}

int main(void)
{
    RUN(customer, customer);
    return 0;
}
