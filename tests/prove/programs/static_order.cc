/* A global object starts a thread when it is made; the thread reads a global that is made after it.
 * Expected: race on `capacity` at `read` and `make`. */
#include "threads.h"

#include <atomic>
#include <thread>

extern int capacity;

static std::atomic<int> seen;

static int measured(int n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

struct service {
    std::thread thread;
    service()
        : thread([] {
              own_work();
              seen = capacity; /* read */
          })
    {
    }
};

#ifdef FIXED
int capacity = measured(64);
#endif
static service early;
#ifndef FIXED
int capacity = measured(64); /* make */
#endif

int main()
{
    early.thread.join();
    return 0;
}
