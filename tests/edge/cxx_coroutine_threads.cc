// Coroutines resumed on another thread; a thousand symmetric transfers between them.
// FLAGS: -pthread
#include <atomic>
#include <coroutine>
#include <cstdio>
#include <thread>

struct Task {
    struct promise_type {
        std::coroutine_handle<> next = std::noop_coroutine();
        int result = 0;
        Task get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend()
        {
            return {};
        }
        struct Final {
            bool await_ready() noexcept
            {
                return false;
            }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept
            {
                return h.promise().next;
            }
            void await_resume() noexcept
            {
            }
        };
        Final final_suspend() noexcept
        {
            return {};
        }
        void return_value(int v)
        {
            result = v;
        }
        void unhandled_exception()
        {
        }
    };
    std::coroutine_handle<promise_type> h;
    bool await_ready()
    {
        return false;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> who)
    {
        h.promise().next = who;
        return h;
    }
    int await_resume()
    {
        int r = h.promise().result;
        h.destroy();
        return r;
    }
};
static std::atomic<int> done;
static std::thread::id starter;
static Task add(int a, int b)
{
    co_return a + b;
}
static Task loop(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum = co_await add(sum, i);
    co_return sum;
}
static Task top()
{
    int first = co_await loop(1000);
    starter = std::this_thread::get_id();
    co_await std::suspend_always{};
    co_return first + (starter != std::this_thread::get_id());
}

int main()
{
    Task t = top();
    t.h.resume();
    std::thread runner([&] { t.h.resume(); });
    runner.join();
    std::printf("%d\n", t.h.promise().result);
    t.h.destroy();
    done = 1;
    std::printf("%d\n", done.load());
}
