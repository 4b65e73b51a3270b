/* A vector grows while another thread reads its first element: the element moves.
 * Expected: race or use-after-free at `read` and `grow`. */
#include "threads.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

static std::vector<int> numbers(1, 7);
#ifdef FIXED
static std::mutex lock;
#endif
static std::atomic<int> seen;

static void reader()
{
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
#endif
    seen = numbers[0]; /* read */
}

static void grower()
{
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
#endif
    numbers.push_back(8); /* grow */
}

int main()
{
    std::thread r(reader);
    std::thread w([] {
        own_work();
        grower();
    });
    r.join();
    w.join();
    return seen != 7;
}
