/* The exception leaves the function, the lock stays taken; who tries again blocks himself.
 * Expected: deadlock at `take`. */
#include "threads.h"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static std::atomic<bool> full;
static int stored;

static void store()
{
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
#else
    lock.lock(); /* take */
#endif
    if (full)
        throw std::runtime_error("full");
    stored++;
#ifndef FIXED
    lock.unlock();
#endif
}

static void user()
{
    for (int tries = 0; tries < 2; tries++)
        try {
            store();
            return;
        } catch (const std::runtime_error &) {
        }
}

static void filler()
{
    full = true;
    full = false;
}

int main()
{
    std::thread f(filler);
    std::thread u([] {
        own_work();
        user();
    });
    f.join();
    u.join();
    return 0;
}
