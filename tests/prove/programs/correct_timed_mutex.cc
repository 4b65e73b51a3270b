/* Locks that are waited for with a limit, taken again by their owner, or shared: who does not get one does nothing.
 * Expected: nothing. */
#include <cassert>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::timed_mutex timed;
static std::recursive_mutex again;
static std::shared_timed_mutex shared;
static int a, b, c;

static void work()
{
    if (timed.try_lock_for(std::chrono::milliseconds(5))) {
        a++;
        timed.unlock();
    }
    {
        std::lock_guard<std::recursive_mutex> one(again), two(again);
        b++;
    }
    if (shared.try_lock_until(std::chrono::steady_clock::now() + std::chrono::seconds(1))) {
        c++;
        shared.unlock();
    }
}

int main()
{
    std::thread other(work);
    work();
    other.join();
    assert(a >= 1 && a <= 2 && b == 2 && c >= 1 && c <= 2);
    return 0;
}
