// A ring between one producer and one consumer: the tail hands entries over, the head hands slots back.
// WRONG: slot -DTAIL=relaxed
// WRONG: slot -DHEAD=relaxed
#include "litmus.h"
#include <sched.h>
#ifndef TAIL
#define TAIL release
#endif
#ifndef HEAD
#define HEAD release
#endif

enum { SLOTS = 4, ITEMS = 100 };
static int slot[SLOTS];
static atomic_uint head, tail;

static void *producer(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < ITEMS; i++) {
        while (i - LOAD(head, acquire) == SLOTS)
            sched_yield();
        slot[i % SLOTS] = (int)i;
        STORE(tail, i + 1, TAIL);
    }
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    long sum = 0;
    for (unsigned i = 0; i < ITEMS; i++) {
        while (LOAD(tail, acquire) == i)
            sched_yield();
        sum += slot[i % SLOTS];
        STORE(head, i + 1, HEAD);
    }
    printf("%d\n", sum > 0);
    return NULL;
}

int main(void)
{
    TOGETHER(producer, consumer);
    return 0;
}
