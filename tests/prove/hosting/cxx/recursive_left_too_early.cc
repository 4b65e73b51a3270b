/* A lock that is taken twice is given back twice before the last access.
 * Expected: race on `sum`. */
#include <mutex>
#include <thread>

static std::recursive_mutex lock;
static int sum;

static void add()
{
    std::unique_lock<std::recursive_mutex> outer(lock), inner(lock);
    inner.unlock();
#ifndef FIXED
    outer.unlock();
#endif
    sum++;
}

int main()
{
    std::thread a(add), b(add);
    a.join();
    b.join();
    return sum < 0;
}
