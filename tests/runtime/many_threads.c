/* A thousand threads at a time, a hundred thousand in all. */
#include "by_hand.h"

#include "runtime/core/threads.h"

#include <pthread.h>

enum { LIVE = 1000, TOTAL = 100000 };

static pthread_barrier_t together;

NOINLINE static void *member(void *arg)
{
    ENTER;
    pthread_barrier_wait(&together);
    LEAVE;
    return arg;
}

static void *passer(void *arg)
{
    ENTER;
    LEAVE;
    return arg;
}

int main(void)
{
    ENTER;
    static pthread_t all[LIVE];
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    pthread_barrier_init(&together, NULL, LIVE + 1);
    for (long i = 0; i < LIVE; i++)
        CHECK(pthread_create(&all[i], &attr, member, (void *)i) == 0);
    pthread_barrier_wait(&together);
    for (long i = 0; i < LIVE; i++) {
        void *result;
        CHECK(pthread_join(all[i], &result) == 0 && result == (void *)i);
    }
    for (long i = LIVE; i < TOTAL; i += 10) {
        for (int k = 0; k < 10; k++)
            CHECK(pthread_create(&all[k], &attr, passer, (void *)i) == 0);
        for (int k = 0; k < 10; k++)
            CHECK(pthread_join(all[k], NULL) == 0);
    }
    CHECK(dh_threads_count() == TOTAL + 1);
    LEAVE;
    return 0;
}
