/* An atomic that is too wide for one instruction says which of two buffers is the good one: it does so too early.
 * Expected: race.
 * Flags: -latomic */
#include <atomic>
#include <thread>

struct Wide { long which, stamp, length; };
static std::atomic<Wide> current(Wide{0, 0, 0});
static int buffers[2];

static void produce()
{
#ifdef FIXED
    buffers[1] = 4;
    current.store(Wide{1, 1, 1});
#else
    current.store(Wide{1, 1, 1});
    buffers[1] = 4;
#endif
}

int main()
{
    std::thread t(produce);
    Wide w = current.load();
    int got = w.which ? buffers[1] : 0;
    t.join();
    return got < 0;
}
