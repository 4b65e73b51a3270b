/* A reader finds a key missing, gives up its shared lock and takes the exclusive one, without looking again.
 * Expected: assertion. */
#include <cassert>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static std::map<int, int> made;

static void make_once()
{
    {
        std::shared_lock<std::shared_mutex> reading(lock);
        if (made.count(1))
            return;
    }
    std::unique_lock<std::shared_mutex> writing(lock);
#ifdef FIXED
    if (made.count(1))
        return;
#endif
    assert(++made[1] == 1);
}

int main()
{
    std::thread a(make_once), b(make_once);
    a.join();
    b.join();
    return 0;
}
