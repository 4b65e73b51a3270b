/* Two transfers in opposite directions, each locking the account it takes from first.
 * Expected: deadlock at `second`. */
#include "threads.h"

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int money[2] = {50, 50};

static void *transfer(void *arg)
{
    long from = (long)arg, to = 1 - from;
#ifdef FIXED
    long first = 0, second = 1;
#else
    long first = from, second = to;
#endif
    pthread_mutex_lock(&locks[first]);
    pthread_mutex_lock(&locks[second]); /* second */
    money[from]--;
    money[to]++;
    pthread_mutex_unlock(&locks[second]);
    pthread_mutex_unlock(&locks[first]);
    return arg;
}

int main(void)
{
    RUN(transfer, transfer);
    return 0;
}
