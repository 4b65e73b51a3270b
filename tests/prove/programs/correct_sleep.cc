/* Clocks and sleeping of libstdc++ are on virtual time: an hour goes by at once, and never less than was asked for.
 * Expected: nothing. */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable woken;

int main()
{
    using namespace std::chrono;
    auto began = steady_clock::now();
    auto date = system_clock::now();
    std::thread sleeper([] { std::this_thread::sleep_for(hours(1)); });
    std::thread waiter([] {
        std::unique_lock<std::mutex> hold(lock);
        auto until = steady_clock::now() + minutes(10);
        woken.wait_until(hold, until, [until] { return steady_clock::now() >= until; });
    });
    sleeper.join();
    waiter.join();
    assert(steady_clock::now() - began >= hours(1));
    assert(system_clock::now() - date >= hours(1));
    return 0;
}
