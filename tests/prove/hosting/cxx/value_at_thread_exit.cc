/* A value that is there before the thread's own variables have left what they hold.
 * Expected: race on `left`. */
#include <future>
#include <thread>

static int left;

struct Leaves {
    int value = 3;
    ~Leaves() { left = value; }
};
static thread_local Leaves leaves;

int main()
{
    std::promise<int> end;
    std::future<int> ended = end.get_future();
    std::thread t([p = std::move(end)]() mutable {
        leaves.value++;
#ifdef FIXED
        p.set_value_at_thread_exit(1);
#else
        p.set_value(1);
#endif
    });
    int got = ended.get() + left;
    t.join();
    return got < 0;
}
