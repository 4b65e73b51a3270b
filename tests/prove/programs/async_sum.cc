/* Tasks that run beside each other add into one variable.
 * Expected: race on `sum` at `add`. */
#include "threads.h"

#include <atomic>
#include <future>

#ifdef FIXED
static std::atomic<long> sum;
#else
static long sum;
#endif

static long add(long n)
{
    sum += n; /* add */
    return n;
}

int main()
{
    std::future<long> a = std::async(std::launch::async, add, 1);
    own_work();
    std::future<long> b = std::async(std::launch::async, add, 2);
    return a.get() + b.get() == 3 ? 0 : 1;
}
