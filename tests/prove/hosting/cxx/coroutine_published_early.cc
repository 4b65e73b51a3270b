/* A coroutine hands its handle to another thread and goes on using its own frame, which that thread may end.
 * Expected: use-after-free or race or crash. */
#include <atomic>
#include <coroutine>
#include <thread>

static std::atomic<void *> waiting;
static std::atomic<int> suspended;

struct Task {
    struct promise_type {
        Task get_return_object()
        {
            return {};
        }
        std::suspend_never initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_never final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
        }
    };
};

struct Handover {
    int count = 0;
    bool await_ready()
    {
        return false;
    }
    void await_suspend(std::coroutine_handle<> h)
    {
#ifdef FIXED
        count++;
        waiting.store(h.address());
#else
        waiting.store(h.address());
        count++;
#endif
        suspended++;
    }
    void await_resume()
    {
    }
};

static Task job()
{
    co_await Handover();
}

static void runner()
{
    void *h;
    while (!(h = waiting.load()))
        std::this_thread::yield();
    std::coroutine_handle<>::from_address(h).resume();
}

int main()
{
    std::thread r(runner);
    job();
    r.join();
    return 0;
}
