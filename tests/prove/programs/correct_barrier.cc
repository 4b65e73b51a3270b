/* Two phases with std::barrier: in the second, each reads what the other wrote in the first.
 * Expected: nothing. */
#include "threads.h"

#include <barrier>
#include <cassert>
#include <thread>

static std::barrier phase(2);
static int cells[2], sums[2];

static void worker(int me)
{
    cells[me] = me + 1;
    phase.arrive_and_wait();
    sums[me] = cells[0] + cells[1];
    phase.arrive_and_wait();
    assert(sums[1 - me] == 3);
}

int main()
{
    std::thread a(worker, 0), b(worker, 1);
    a.join();
    b.join();
    return 0;
}
