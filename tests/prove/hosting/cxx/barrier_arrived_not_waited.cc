/* A thread arrives at the barrier but does not wait for the other before it reads the other's part.
 * Expected: race on `rows[]`. */
#include <barrier>
#include <thread>

static int rows[2], sums[2], phases;
static std::barrier meet(2, []() noexcept { phases++; });

static void part(int i)
{
    rows[i] = i + 1;
#ifdef FIXED
    meet.arrive_and_wait();
#else
    auto token = meet.arrive();
    (void)token;
#endif
    sums[i] = rows[0] + rows[1];
}

int main()
{
    std::thread a(part, 0), b(part, 1);
    a.join();
    b.join();
    return phases > 1;
}
