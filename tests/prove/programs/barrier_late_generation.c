/* A barrier made by hand: who arrives first counts himself and then asks which round it is, which may be the next
 * one already; for its end he waits for ever.
 * Expected: deadlock or lost-wakeup at `wait`. */
#include "threads.h"

#include <stdatomic.h>

enum { PARTIES = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static atomic_int arrived, round_number;

static void next_round(void)
{
    arrived = 0;
    pthread_mutex_lock(&lock);
    round_number++;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
}

static void meet(void)
{
#ifdef FIXED
    int mine = round_number;
    int before = arrived++;
#else
    int before = arrived++;
    int mine = round_number;
#endif
    if (before == PARTIES - 1) {
        next_round();
        return;
    }
    pthread_mutex_lock(&lock);
    while (round_number == mine)
        pthread_cond_wait(&opened, &lock); /* wait */
    pthread_mutex_unlock(&lock);
}

static void *walker(void *arg)
{
    meet();
    own_work();
    meet();
    return arg;
}

int main(void)
{
    RUN(walker, walker);
    return 0;
}
