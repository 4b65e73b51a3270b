/* Four cars at a crossing, each on its own quarter and waiting for the next one: a cycle of four.
 * Expected: deadlock at `next`. */
#include "threads.h"

enum { CARS = 4 };

static pthread_mutex_t quarter[CARS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                        PTHREAD_MUTEX_INITIALIZER};
static int passed[CARS];

static void *car(void *arg)
{
    long own = (long)arg, next = (own + 1) % CARS;
#ifdef FIXED
    if (next < own)
        own = 0, next = CARS - 1;
#endif
    pthread_mutex_lock(&quarter[own]);
    pthread_mutex_lock(&quarter[next]); /* next */
    passed[own]++;
    pthread_mutex_unlock(&quarter[own]);
    pthread_mutex_unlock(&quarter[next]);
    return arg;
}

int main(void)
{
    RUN(car, car, car, car);
    return 0;
}
