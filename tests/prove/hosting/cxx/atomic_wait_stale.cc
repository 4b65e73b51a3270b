/* Who changes the value wakes the waiter first: it finds the old value, and sleeps for ever.
 * Expected: deadlock or lost-wakeup. */
#include <atomic>
#include <thread>

static std::atomic<int> ready;

static void waiter()
{
    ready.wait(0);
}

int main()
{
    std::thread t(waiter);
#ifdef FIXED
    ready.store(1);
    ready.notify_one();
#else
    ready.notify_one();
    ready.store(1);
#endif
    t.join();
    return 0;
}
