/* Two threads ask whether a promise was kept before they keep it: both may, and the second one's exception ends all.
 * Expected: assertion. */
#include <atomic>
#include <future>
#include <thread>

static std::promise<int> promise;
static std::atomic<bool> kept;

static void keep(int value)
{
#ifdef FIXED
    if (!kept.exchange(true))
        promise.set_value(value);
#else
    if (!kept) {
        kept = true;
        promise.set_value(value);
    }
#endif
}

int main()
{
    std::thread one(keep, 1), two(keep, 2);
    int value = promise.get_future().get();
    one.join();
    two.join();
    return value == 0;
}
