/* Tobacco, paper and matches lie on the table once each. A smoker who sees the two things he lacks takes one after
 * the other, though another one may have seen the second thing as well.
 * Expected: deadlock at `second`. */
#include "threads.h"

#include <semaphore.h>

enum { THINGS = 3 };

static sem_t table[THINGS];
#ifdef FIXED
static pthread_mutex_t agent = PTHREAD_MUTEX_INITIALIZER;
#endif

static int lies_there(long thing)
{
    int count;
    sem_getvalue(&table[thing], &count);
    return count > 0;
}

static void *smoker(void *arg)
{
    long first = (long)arg, second = (first + 1) % THINGS;
#ifdef FIXED
    pthread_mutex_lock(&agent);
#endif
    if (lies_there(first) && lies_there(second)) {
        sem_wait(&table[first]);
        sem_wait(&table[second]); /* second */
    }
#ifdef FIXED
    pthread_mutex_unlock(&agent);
#endif
    return arg;
}

int main(void)
{
    for (int i = 0; i < THINGS; i++)
        sem_init(&table[i], 0, 1);
    RUN(smoker, smoker, smoker);
    return 0;
}
