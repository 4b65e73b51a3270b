// std::async, promise, packaged_task, shared_future; an exception carried from one thread to another.
// FLAGS: -pthread
#include <cstdio>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

static long fibonacci(int n)
{
    if (n < 12)
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    auto left = std::async(n > 16 ? std::launch::async : std::launch::deferred, fibonacci, n - 1);
    return fibonacci(n - 2) + left.get();
}

int main()
{
    std::printf("%ld\n", fibonacci(18));
    std::promise<int> p;
    std::shared_future<int> f = p.get_future().share();
    std::vector<std::future<int>> readers;
    for (int i = 0; i < 3; i++)
        readers.push_back(std::async(std::launch::async, [f, i] { return f.get() * i; }));
    p.set_value(14);
    int sum = 0;
    for (auto &r : readers)
        sum += r.get();
    std::printf("%d\n", sum);
    std::packaged_task<int(int)> task([](int x) -> int {
        if (x < 0)
            throw std::invalid_argument("negative");
        return x;
    });
    auto result = task.get_future();
    std::thread(std::move(task), -1).join();
    try {
        result.get();
    } catch (const std::invalid_argument &e) {
        std::printf("carried: %s\n", e.what());
    }
    std::future<int> broken;
    {
        std::promise<int> dropped;
        broken = dropped.get_future();
    }
    try {
        broken.get();
    } catch (const std::future_error &e) {
        std::printf("%d\n", e.code() == std::future_errc::broken_promise);
    }
}
