/* A configuration is exchanged atomically, but changed when it is already known.
 * Expected: race. */
#include <atomic>
#include <memory>
#include <thread>

static std::atomic<std::shared_ptr<int>> config(std::make_shared<int>(1));

static int read_config()
{
    std::shared_ptr<int> c = config.load();
    return *c;
}

int main()
{
    std::thread a(read_config), b(read_config);
    std::shared_ptr<int> next = std::make_shared<int>(2);
#ifdef FIXED
    *next = 3;
    config.store(next);
#else
    config.store(next);
    *next = 3;
#endif
    a.join();
    b.join();
    return 0;
}
