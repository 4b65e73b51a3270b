/* The auditor reads two balances in two sections; a transfer between them is counted on both sides, or on none.
 * Expected: assertion at `total`. */
#include "threads.h"

#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int checking = 60, savings = 40;

static void *transfer(void *arg)
{
    pthread_mutex_lock(&lock);
    checking -= 10;
    savings += 10;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *auditor(void *arg)
{
    pthread_mutex_lock(&lock);
    int first = checking;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    int second = savings;
    pthread_mutex_unlock(&lock);
    assert(first + second == 100); /* total */
    return arg;
}

int main(void)
{
    RUN(transfer, auditor);
    return 0;
}
