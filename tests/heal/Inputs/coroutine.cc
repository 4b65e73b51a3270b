// A counter that a coroutine and a thread add to: no lock can be held in what is suspended and goes on elsewhere.
#include <coroutine>
#include <cstdio>
#include <thread>

static long total;

struct Task {
    struct promise_type {
        Task get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend()
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
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
    std::coroutine_handle<promise_type> at;
};

#ifdef PLAIN
static void add_in_task(long n)
{
    total = total + n;
}
#endif

static Task count(long n)
{
#ifdef PLAIN
    add_in_task(n);
#else
    total = total + n;
#endif
    co_return;
}

static void add(long n)
{
    long before = total;
    total = before + n;
}

int main()
{
    std::thread other(add, 1);
    Task t = count(1);
    t.at.resume();
    t.at.destroy();
    other.join();
    printf("%ld\n", total);
    return 0;
}
