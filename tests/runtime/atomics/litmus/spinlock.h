/* Two threads count under a lock; the first round is forced, one after the other. */
#include "litmus.h"
#ifndef LOCK
#define LOCK acquire
#endif
#ifndef UNLOCK
#define UNLOCK release
#endif

static void lock(void);
static void unlock(void);

static int counter;

static void count(int times)
{
    for (int i = 0; i < times; i++) {
        lock();
        counter++;
        unlock();
    }
}

static void *first(void *arg)
{
    (void)arg;
    count(1);
    invisible_reach(1);
    invisible_await(2);
    count(300);
    return NULL;
}

static void *second(void *arg)
{
    (void)arg;
    invisible_await(1);
    count(1);
    invisible_reach(2);
    count(300);
    return NULL;
}

int main(void)
{
    TOGETHER(first, second);
    printf("%d\n", counter > 0 && counter <= 602);
    return 0;
}
