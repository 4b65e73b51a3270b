/* What a thread leaves in its own variables is written at its end; who is told before reads too early.
 * Expected: race on `left`. */
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static bool ended;
static int left;

struct Leaves {
    int value = 3;
    ~Leaves() { left = value; }
};
static thread_local Leaves leaves;

int main()
{
    std::thread t([] {
        leaves.value++;
        std::unique_lock<std::mutex> hold(lock);
        ended = true;
#ifdef FIXED
        std::notify_all_at_thread_exit(changed, std::move(hold));
#else
        changed.notify_all();
#endif
    });
    int got;
    {
        std::unique_lock<std::mutex> hold(lock);
        changed.wait(hold, [] { return ended; });
        got = left;
    }
    t.join();
    return got < 0;
}
