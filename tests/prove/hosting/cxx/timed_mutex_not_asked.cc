/* A thread that did not get the lock in time goes on as if it had.
 * Expected: race or assertion. */
#include <chrono>
#include <mutex>
#include <thread>

static std::timed_mutex lock;
static int total;

static void add()
{
#ifdef FIXED
    if (!lock.try_lock_for(std::chrono::milliseconds(10)))
        return;
    total++;
    lock.unlock();
#else
    bool got = lock.try_lock_for(std::chrono::milliseconds(10));
    total++;
    if (got)
        lock.unlock();
#endif
}

int main()
{
    std::thread a(add), b(add);
    a.join();
    b.join();
    return 0;
}
