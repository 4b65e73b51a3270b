/* Payments and refunds change the same balance, each under a lock of its own: an update gets lost.
 * Expected: race on `balance` at `pay` and `refund`. */
#include "threads.h"

static pthread_mutex_t payments = PTHREAD_MUTEX_INITIALIZER;
#ifdef FIXED
#define refunds payments
#else
static pthread_mutex_t refunds = PTHREAD_MUTEX_INITIALIZER;
#endif
static int balance = 100;

static void *payer(void *arg)
{
    pthread_mutex_lock(&payments);
    balance -= 10; /* pay */
    pthread_mutex_unlock(&payments);
    return arg;
}

static void *refunder(void *arg)
{
    pthread_mutex_lock(&refunds);
    balance += 5; /* refund */
    pthread_mutex_unlock(&refunds);
    return arg;
}

int main(void)
{
    RUN(payer, refunder);
    return 0;
}
