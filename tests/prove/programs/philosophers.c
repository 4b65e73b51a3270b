/* Three philosophers, each with the left fork first.
 * Expected: deadlock at `right fork`. */
#include "threads.h"

enum { SEATS = 3 };

static pthread_mutex_t forks[SEATS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int meals[SEATS];

static void *philosopher(void *arg)
{
    long seat = (long)arg, left = seat, right = (seat + 1) % SEATS;
#ifdef FIXED
    if (seat == SEATS - 1)
        left = right, right = seat;
#endif
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&forks[left]);
        pthread_mutex_lock(&forks[right]); /* right fork */
        meals[seat]++;
        pthread_mutex_unlock(&forks[right]);
        pthread_mutex_unlock(&forks[left]);
    }
    return arg;
}

int main(void)
{
    RUN(philosopher, philosopher, philosopher);
    return 0;
}
