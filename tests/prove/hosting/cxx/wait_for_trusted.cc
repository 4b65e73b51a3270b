/* A consumer waits for an item with a limit of time, and takes the return of the wait for the item.
 * Expected: assertion. */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable filled;
static std::deque<int> items;

static void consumer()
{
    std::unique_lock<std::mutex> hold(lock);
#ifdef FIXED
    while (!filled.wait_for(hold, std::chrono::seconds(5), [] { return !items.empty(); }))
        ;
#else
    if (items.empty())
        filled.wait_for(hold, std::chrono::seconds(5));
#endif
    assert(!items.empty());
    items.pop_front();
}

static void producer()
{
    std::lock_guard<std::mutex> hold(lock);
    items.push_back(1);
    filled.notify_one();
}

int main()
{
    std::thread c(consumer), p(producer);
    c.join();
    p.join();
    return 0;
}
