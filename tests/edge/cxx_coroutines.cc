// C++20 coroutines: a generator, a recursive one, a task with co_await and an exception through it.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>

template <class T> struct Generator {
    struct promise_type {
        T value{};
        std::exception_ptr error;
        Generator get_return_object()
        {
            return Generator{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend()
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        std::suspend_always yield_value(T v)
        {
            value = v;
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            error = std::current_exception();
        }
    };
    std::coroutine_handle<promise_type> h;
    explicit Generator(std::coroutine_handle<promise_type> handle) : h(handle)
    {
    }
    Generator(Generator &&o) noexcept : h(std::exchange(o.h, {}))
    {
    }
    ~Generator()
    {
        if (h)
            h.destroy();
    }
    bool next()
    {
        h.resume();
        if (h.promise().error)
            std::rethrow_exception(h.promise().error);
        return !h.done();
    }
    T value() const
    {
        return h.promise().value;
    }
};
struct Scope {
    ~Scope()
    {
        std::printf("[scope ends]");
    }
};
static Generator<int> fibonacci(int n)
{
    Scope s;
    int a = 0, b = 1;
    for (int i = 0; i < n; i++) {
        co_yield a;
        a = std::exchange(b, a + b);
    }
}
static Generator<long> walk(int depth)
{
    if (depth == 0) {
        co_yield 1;
        co_return;
    }
    for (int k = 0; k < 2; k++)
        for (auto g = walk(depth - 1); g.next();)
            co_yield g.value() * 3 + k;
}
static Generator<int> fails()
{
    Scope s;
    int big[100] = {};
    for (int i = 0; i < 100; i++) {
        big[i] = i;
        if (i == 3)
            throw big[2] + 40;
        co_yield big[i];
    }
}

int main()
{
    for (auto g = fibonacci(12); g.next();)
        std::printf("%d ", g.value());
    std::printf("\n");
    long sum = 0;
    for (auto g = walk(6); g.next();)
        sum = sum * 7 % 1000003 + g.value();
    std::printf("%ld\n", sum);
    {
        auto unfinished = fibonacci(5);
        unfinished.next();
    }
    try {
        for (auto g = fails(); g.next();)
            std::printf(" %d", g.value());
    } catch (int v) {
        std::printf(" caught %d\n", v);
    }
}
