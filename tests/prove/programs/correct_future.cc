/* A value and an exception through promises; a shared future with two readers.
 * Expected: nothing. */
#include "threads.h"

#include <cassert>
#include <future>
#include <stdexcept>
#include <thread>

static std::promise<int> number, failure;
static std::shared_future<int> answer = number.get_future().share();

static void giver()
{
    number.set_value(42);
    failure.set_exception(std::make_exception_ptr(std::runtime_error("none")));
}

static void reader()
{
    assert(answer.get() == 42);
}

int main()
{
    std::future<int> broken = failure.get_future();
    std::thread a(reader), b(reader), g(giver);
    bool thrown = false;
    try {
        broken.get();
    } catch (const std::runtime_error &) {
        thrown = true;
    }
    assert(thrown);
    a.join();
    b.join();
    g.join();
    return 0;
}
