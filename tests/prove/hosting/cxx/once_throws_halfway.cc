/* An initialisation that fails the first time has already said that all is ready; the thread that tries again is too
 * late for who believed it. Expected: race or assertion. */
#include <atomic>
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::once_flag once;
static std::atomic<bool> ready;
static int attempts, value;

static void init()
{
#ifndef FIXED
    ready = true;
#endif
    if (attempts++ == 0)
        throw std::runtime_error("busy");
    value = 42;
#ifdef FIXED
    ready = true;
#endif
}

static void user()
{
    try {
        std::call_once(once, init);
    } catch (const std::runtime_error &) {
    }
    if (ready)
        assert(value == 42);
}

int main()
{
    std::thread a(user), b(user);
    a.join();
    b.join();
    return 0;
}
