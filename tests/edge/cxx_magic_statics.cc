// Function-level statics: initialised once by racing threads, retried after an exception, recursive use of others.
// FLAGS: -pthread
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

static std::atomic<int> built, attempts;
struct Slow {
    int v;
    Slow()
    {
        for (int i = 0; i < 100; i++)
            std::this_thread::yield();
        v = ++built * 7;
    }
};
static Slow &instance()
{
    static Slow s;
    return s;
}
struct Fails {
    Fails()
    {
        if (++attempts < 3)
            throw std::runtime_error("not yet");
    }
};
static int retry()
{
    static Fails f;
    return attempts;
}
template <class T> T &of_type()
{
    static T value{};
    return value;
}
static int chain(int n)
{
    static int base = instance().v;
    return base + n;
}

int main()
{
    std::atomic<int> sum{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] { sum += instance().v; });
    for (auto &t : threads)
        t.join();
    int failures = 0;
    for (int i = 0; i < 4; i++)
        try {
            retry();
        } catch (const std::runtime_error &) {
            failures++;
        }
    of_type<int>() = 4;
    of_type<double>() += 1.5;
    std::printf("%d %d %d %d %d %g %d\n", built.load(), sum.load(), failures, retry(), of_type<int>(),
                of_type<double>(), chain(1));
}
