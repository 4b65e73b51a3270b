/* A spinlock taken by compare-and-exchange, of which the second attempt is not looked at.
 * Expected: race on `orders` at `order`. */
#include "threads.h"

#include <stdatomic.h>

static atomic_int owner;
static int orders;

static int acquire(int me)
{
    int nobody = 0;
    if (atomic_compare_exchange_strong(&owner, &nobody, me))
        return 1;
    nobody = 0;
#ifdef FIXED
    return atomic_compare_exchange_strong(&owner, &nobody, me);
#else
    atomic_compare_exchange_strong(&owner, &nobody, me);
    return 1;
#endif
}

static void *trader(void *arg)
{
    if (acquire(1 + (int)(long)arg)) {
        orders++; /* order */
        owner = 0;
    }
    return arg;
}

int main(void)
{
    RUN(trader, trader);
    return 0;
}
