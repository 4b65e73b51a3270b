/* A counter of hits is written under a lock for readers.
 * Expected: race on `hits`. */
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static int hits, value;

static int look()
{
#ifdef FIXED
    std::unique_lock<std::shared_mutex> hold(lock);
#else
    std::shared_lock<std::shared_mutex> hold(lock);
#endif
    hits++;
    return value;
}

int main()
{
    std::thread a(look), b(look);
    {
        std::unique_lock<std::shared_mutex> hold(lock);
        value = 1;
    }
    a.join();
    b.join();
    return hits > 2;
}
