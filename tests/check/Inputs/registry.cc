// Lazy initialisation of a registry: double-checked with a plain pointer. FIXED: std::atomic with acquire/release.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Registry
{
    std::map<std::string, int> numbers_;
    bool ready_ = false;

  public:
    Registry()
    {
        numbers_["one"] = 1;
        numbers_["two"] = 2;
        ready_ = true;
    }
    int find(const std::string &name) const
    {
        if (!ready_)
            std::abort();
        auto it = numbers_.find(name);
        return it == numbers_.end() ? 0 : it->second;
    }
};

#ifdef FIXED
static std::atomic<Registry *> registry;
#else
static Registry *registry;
#endif
static std::mutex lock;

static Registry &the()
{
#ifdef FIXED
    Registry *r = registry.load(std::memory_order_acquire);
    if (!r) {
        std::lock_guard<std::mutex> g(lock);
        r = registry.load(std::memory_order_relaxed);
        if (!r)
            registry.store(r = new Registry, std::memory_order_release);
    }
    return *r;
#else
    if (!registry) {
        std::lock_guard<std::mutex> g(lock);
        if (!registry)
            registry = new Registry;
    }
    return *registry;
#endif
}

int main()
{
    std::vector<std::thread> threads;
    std::atomic<int> sum{0};
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&, i] { sum += the().find(i % 2 ? "one" : "two"); });
    for (auto &t : threads)
        t.join();
    std::printf("%d\n", sum.load());
    return sum != 5;
}
