/* Threads one after the other. The handle of `first` is overwritten before anybody joined it: it runs on, and main races with it. `second` was
 * joined. `third` and `fourth` work on one variable, but `third` has ended before `fourth` is started. */
#include <pthread.h>

static int lost, kept, turns;

static void *first(void *arg)
{
    lost = 1;
    return arg;
}

static void *second(void *arg)
{
    kept = 1;
    return arg;
}

static void *third(void *arg)
{
    turns++;
    return arg;
}

static void *fourth(void *arg)
{
    turns++;
    return arg;
}

int main(void)
{
    pthread_t runner;
    pthread_create(&runner, NULL, first, NULL);
    pthread_create(&runner, NULL, second, NULL);
    pthread_join(runner, NULL);
    lost++;
    kept++;
    pthread_create(&runner, NULL, third, NULL);
    pthread_join(runner, NULL);
    pthread_create(&runner, NULL, fourth, NULL);
    pthread_join(runner, NULL);
    return lost + kept + turns;
}
