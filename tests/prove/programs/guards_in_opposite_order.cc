/* Two guards in one order here, in the other order there.
 * Expected: deadlock at `then right` and `then left`. */
#include "threads.h"

#include <mutex>
#include <thread>

static std::mutex left, right;
static int moved;

static void to_right()
{
#ifdef FIXED
    std::scoped_lock both(left, right);
#else
    std::lock_guard<std::mutex> first(left);
    std::lock_guard<std::mutex> second(right); /* then right */
#endif
    moved++;
}

static void to_left()
{
#ifdef FIXED
    std::scoped_lock both(right, left);
#else
    std::lock_guard<std::mutex> first(right);
    std::lock_guard<std::mutex> second(left); /* then left */
#endif
    moved--;
}

int main()
{
    std::thread a(to_right);
    std::thread b([] {
        own_work();
        to_left();
    });
    a.join();
    b.join();
    return 0;
}
