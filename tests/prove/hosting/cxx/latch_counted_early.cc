/* A worker says that its part is done before it has written it.
 * Expected: race on `parts[]`. */
#include <latch>
#include <thread>

static int parts[2];
static std::latch done(2);

static void part(int i)
{
#ifdef FIXED
    parts[i] = i + 1;
    done.count_down();
#else
    done.count_down();
    parts[i] = i + 1;
#endif
}

int main()
{
    std::thread a(part, 0), b(part, 1);
    done.wait();
    int sum = parts[0] + parts[1];
    a.join();
    b.join();
    return sum < 0;
}
