/* A latch that counts one thread fewer than there are: who waits may read what nobody wrote yet.
 * Expected: race or assertion. */
#include <cassert>
#include <latch>
#include <thread>

#ifdef FIXED
static std::latch done(2);
#else
static std::latch done(1);
#endif
static int parts[2];

static void worker(int n)
{
    parts[n] = 1;
    done.count_down();
}

int main()
{
    std::thread a(worker, 0);
    std::thread b([] {
        parts[1] = 1;
#ifdef FIXED
        done.count_down();
#endif
    });
    done.wait();
    int sum = parts[0] + parts[1];
    a.join();
    b.join();
    assert(sum == 2);
    return 0;
}
