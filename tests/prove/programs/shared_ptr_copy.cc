/* A shared pointer is copied while it is replaced: its count is safe, the pointer itself is not.
 * Expected: race at `copy` and `replace`. */
#include "threads.h"

#include <memory>
#include <mutex>
#include <thread>

static std::shared_ptr<int> config = std::make_shared<int>(1);
#ifdef FIXED
static std::mutex lock;
#endif

static void reader()
{
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
#endif
    std::shared_ptr<int> mine(config); /* copy */
}

static void replacer()
{
    std::shared_ptr<int> fresh = std::make_shared<int>(2);
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
#endif
    config.swap(fresh); /* replace */
}

int main()
{
    std::thread r(reader);
    std::thread w([] {
        own_work();
        replacer();
    });
    r.join();
    w.join();
    return 0;
}
