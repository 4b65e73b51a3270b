/* A binary semaphore as lock and a counting one as queue length.
 * Expected: nothing. */
#include "threads.h"

#include <cassert>
#include <semaphore>
#include <thread>

static std::binary_semaphore gate(1);
static std::counting_semaphore<4> filled(0);
static int items;

static void producer()
{
    gate.acquire();
    items++;
    gate.release();
    filled.release();
}

static void consumer()
{
    filled.acquire();
    gate.acquire();
    assert(items > 0);
    items--;
    gate.release();
}

int main()
{
    std::thread a(consumer), b(producer), c(consumer), d(producer);
    a.join();
    b.join();
    c.join();
    d.join();
    assert(items == 0);
    return 0;
}
