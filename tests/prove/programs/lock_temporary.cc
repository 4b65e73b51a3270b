/* The lock has no name, so it is given back at the end of its own line.
 * Expected: race on `sum` at `add`. */
#include "threads.h"

#include <mutex>
#include <thread>

static std::mutex lock;
static long sum;

static void adder(long n)
{
#ifdef FIXED
    std::unique_lock<std::mutex> held{lock};
#else
    std::unique_lock<std::mutex>{lock};
#endif
    sum += n; /* add */
}

int main()
{
    std::thread a(adder, 1);
    std::thread b([] {
        own_work();
        adder(2);
    });
    a.join();
    b.join();
    return 0;
}
