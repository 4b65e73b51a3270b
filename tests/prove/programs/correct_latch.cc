/* A latch of two: who waited sees what both did before.
 * Expected: nothing. */
#include "threads.h"

#include <cassert>
#include <latch>
#include <thread>

static std::latch done(2);
static int results[2];

static void worker(int n)
{
    results[n] = n + 1;
    done.count_down();
}

static void waiter()
{
    done.wait();
    assert(results[0] + results[1] == 3);
}

int main()
{
    std::thread w(waiter), a(worker, 0), b(worker, 1);
    w.join();
    a.join();
    b.join();
    return 0;
}
