// suspect: config
// A configuration is written once and announced by a std::atomic<bool>; broken: the announcement is relaxed.
#include <atomic>
#include <cstdio>
#include <thread>

#ifdef BROKEN
constexpr auto announce = std::memory_order_relaxed;
#else
constexpr auto announce = std::memory_order_release;
#endif

static std::atomic<bool> ready{false};
static int config;

static void load_config()
{
    config = 42;
    ready.store(true, announce);
}

static void serve()
{
    while (!ready.load(std::memory_order_acquire))
        std::this_thread::yield();
    std::printf("%d\n", config);
}

int main()
{
    std::thread loader([] { load_config(); }), server([] { serve(); });
    loader.join();
    server.join();
}
