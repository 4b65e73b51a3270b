/* Whether there is enough on the account is asked before the lock is taken.
 * Expected: assertion at `overdrawn`. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int balance = 100;

static void *customer(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    if (balance >= 80)
        balance -= 80;
#else
    int enough = balance >= 80;
    pthread_mutex_lock(&lock);
    if (enough)
        balance -= 80;
#endif
    assert(balance >= 0); /* overdrawn */
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(customer, customer);
    return 0;
}
