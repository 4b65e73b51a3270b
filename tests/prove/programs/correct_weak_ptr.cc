/* The last weak pointer goes in one thread while the last shared one goes in another: libstdc++ reads both counts at once, and what was released
 * to one of them orders that.
 * Expected: nothing. */
#include "threads.h"

#include <memory>
#include <thread>

static std::weak_ptr<int> watched;

static void watcher()
{
    watched.reset();
}

int main()
{
    std::shared_ptr<int> kept = std::make_shared<int>(1);
    watched = kept;
    std::thread t(watcher);
    kept.reset();
    t.join();
    return 0;
}
