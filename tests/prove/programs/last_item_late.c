/* A producer signs off before it delivers its last item; the consumer sees nobody left and nothing there, and
 * goes.
 * Expected: assertion at `all eaten`. */
#include "threads.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int items, producers = 2, eaten;

static void *producer(void *arg)
{
#ifdef FIXED
    items++;
    producers--;
#else
    producers--;
    items++;
#endif
    return arg;
}

static void *consumer(void *arg)
{
    for (;;) {
        int left = producers;
        if (items > 0) {
            items--;
            eaten++;
        } else if (left == 0) {
            return arg;
        } else {
            sched_yield();
        }
    }
}

int main(void)
{
    RUN(producer, producer, consumer);
    assert(eaten == 2); /* all eaten */
    return 0;
}
