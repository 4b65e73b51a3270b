/* An exception is caught in one thread and thrown again in two others.
 * Expected: nothing. */
#include "threads.h"

#include <cassert>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

static std::mutex lock;
static std::exception_ptr failure;
static int caught;

static void thrower()
{
    try {
        throw std::string("no more paper");
    } catch (...) {
        std::lock_guard<std::mutex> guard(lock);
        failure = std::current_exception();
    }
}

static void catcher()
{
    std::exception_ptr mine;
    {
        std::lock_guard<std::mutex> guard(lock);
        mine = failure;
    }
    if (!mine)
        return;
    try {
        std::rethrow_exception(mine);
    } catch (const std::string &s) {
        assert(s.size() == 13);
        std::lock_guard<std::mutex> guard(lock);
        caught++;
    }
}

int main()
{
    std::thread t(thrower), a(catcher), b(catcher);
    t.join();
    a.join();
    b.join();
    assert(caught <= 2);
    return 0;
}
