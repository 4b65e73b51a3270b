/* A pair of sixteen bytes is read and stored as a whole, but changed in between: one of two changes may be lost.
 * Expected: assertion.
 * Flags: -mcx16 */
#include <atomic>
#include <cassert>
#include <thread>

struct alignas(16) Pair {
    long count, sum;
};

static std::atomic<Pair> all{Pair{0, 0}};

static void add(long n)
{
    Pair now = all.load();
#ifdef FIXED
    while (!all.compare_exchange_weak(now, Pair{now.count + 1, now.sum + n}))
        ;
#else
    all.store(Pair{now.count + 1, now.sum + n});
#endif
}

int main()
{
    std::thread a(add, 1), b(add, 2);
    a.join();
    b.join();
    assert(all.load().count == 2 && all.load().sum == 3);
    return 0;
}
