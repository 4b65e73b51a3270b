/* The condition variable is waited on without a predicate; the look at the flag came too early.
 * Expected: lost-wakeup at `wait`. */
#include "threads.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable told;
static std::atomic<bool> ready;

static void waiter()
{
#ifdef FIXED
    std::unique_lock<std::mutex> guard(lock);
    told.wait(guard, [] { return ready.load(); });
#else
    if (!ready) {
        std::unique_lock<std::mutex> guard(lock);
        told.wait(guard); /* wait */
    }
#endif
}

static void teller()
{
    std::lock_guard<std::mutex> guard(lock);
    ready = true;
    told.notify_one();
}

int main()
{
    std::thread t(teller);
    std::thread w([] {
        own_work();
        waiter();
    });
    t.join();
    w.join();
    return 0;
}
