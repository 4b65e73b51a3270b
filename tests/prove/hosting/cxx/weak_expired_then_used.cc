/* A thread asks whether the object is still there, and gets it afterwards, when it may be gone.
 * Expected: crash. */
#include <memory>
#include <thread>

static std::shared_ptr<int> owner = std::make_shared<int>(1);
static std::weak_ptr<int> watched = owner;

static int watch()
{
#ifdef FIXED
    std::shared_ptr<int> p = watched.lock();
    return p ? *p : 0;
#else
    return watched.expired() ? 0 : *watched.lock();
#endif
}

int main()
{
    std::thread w(watch), d([] { owner.reset(); });
    w.join();
    d.join();
    return 0;
}
