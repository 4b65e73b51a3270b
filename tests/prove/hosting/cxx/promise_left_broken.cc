/* A worker that finds the order cancelled leaves without an answer: the future of who waits throws, and nobody catches
 * it. Expected: assertion. */
#include <atomic>
#include <future>
#include <thread>

static std::atomic<bool> cancelled;

static void worker(std::promise<int> answer)
{
    if (cancelled) {
#ifdef FIXED
        answer.set_value(0);
#endif
        return;
    }
    answer.set_value(42);
}

int main()
{
    std::promise<int> answer;
    std::future<int> future = answer.get_future();
    std::thread a(worker, std::move(answer));
    std::thread b([] { cancelled = true; });
    int got = future.get();
    a.join();
    b.join();
    return got == 42 || got == 0 ? 0 : 1;
}
