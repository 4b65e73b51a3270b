/* A thread lends out a variable of its own and takes it back if nobody has it yet; who has it writes after its
 * owner's end.
 * Expected: use-after-free at `use`. */
#include "threads.h"

#include <atomic>
#include <thread>

static thread_local int slot;
static std::atomic<int *> lent;
static std::atomic<bool> returned;

static void owner()
{
    lent = &slot;
    int *back = lent.exchange(nullptr);
#ifdef FIXED
    while (!back && !returned)
        std::this_thread::yield();
#else
    (void)back;
#endif
}

static void borrower()
{
    if (int *p = lent.exchange(nullptr)) {
        *p = 1; /* use */
        returned = true;
    }
}

int main()
{
    std::thread o(owner);
    std::thread b([] {
        own_work();
        borrower();
    });
    o.join();
    b.join();
    return 0;
}
