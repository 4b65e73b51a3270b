/* A global object starts a thread when it is made; the thread reads a global that is made after it.
 * Expected: race at `read` and `make`. */
#include "threads.h"

#include <atomic>
#include <thread>

static std::atomic<int> seen;

static int measured(int n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

struct table {
    int capacity;
    table()
    {
        capacity = measured(64); /* make */
    }
};

extern table sizes;

struct service {
    std::thread thread;
    service()
        : thread([] {
              own_work();
              seen = sizes.capacity; /* read */
          })
    {
    }
};

#ifdef FIXED
table sizes;
#endif
static service early;
#ifndef FIXED
table sizes;
#endif

int main()
{
    early.thread.join();
    return seen > 64;
}
