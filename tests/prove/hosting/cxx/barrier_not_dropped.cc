/* A thread that got no piece of the work leaves without dropping out of the barrier; that is so only if another thread
 * took them all. Expected: deadlock. */
#include <atomic>
#include <barrier>
#include <thread>

static std::atomic<int> left{2};
static std::barrier together(2);

static void worker()
{
    int got = 0;
    while (left.fetch_sub(1) > 0)
        got++;
    if (!got) {
#ifdef FIXED
        together.arrive_and_drop();
#endif
        return;
    }
    together.arrive_and_wait();
}

int main()
{
    std::thread a(worker), b(worker);
    a.join();
    b.join();
    return 0;
}
