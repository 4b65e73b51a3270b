/* Readers together, a writer alone.
 * Expected: nothing. */
#include "threads.h"

#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex lock;
static int width = 1, height = 1;

static void reader()
{
    std::shared_lock<std::shared_mutex> guard(lock);
    assert(width == height);
}

static void writer()
{
    std::unique_lock<std::shared_mutex> guard(lock);
    width++;
    height++;
}

int main()
{
    std::thread a(reader), w(writer), b(reader);
    a.join();
    w.join();
    b.join();
    return 0;
}
