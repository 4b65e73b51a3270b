/* Each thread draws random numbers, and how often it takes the lock depends on them: a schedule must replay whatever a
 * search was seeded with, and whoever drew first. The last addition is made without the lock.
 * Expected: race on `total` at `add`. */
#include "threads.h"

#include <sys/random.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total, rounds_made;

static unsigned draw(void)
{
    unsigned char number = 0;
    return getrandom(&number, 1, 0) == 1 ? number % 7 : 0;
}

static void *adder(void *arg)
{
    for (unsigned rounds = draw(); rounds; rounds--) {
        pthread_mutex_lock(&lock);
        rounds_made++;
        pthread_mutex_unlock(&lock);
    }
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    total++; /* add */
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    RUN(adder, adder);
    return total < 1;
}
