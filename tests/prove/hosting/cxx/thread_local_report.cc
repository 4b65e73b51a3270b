/* Each thread counts for itself; destructors of its variable add the count to the sum when the thread ends.
 * Expected: race or assertion. */
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex lock;
static long sum;

struct Counter {
    long n = 0;
    ~Counter()
    {
#ifdef FIXED
        std::lock_guard<std::mutex> hold(lock);
#endif
        sum += n;
    }
};

static thread_local Counter counter;

static void worker(long n)
{
    counter.n += n;
}

int main()
{
    std::thread a(worker, 1), b(worker, 2);
    a.join();
    b.join();
    assert(sum == 3);
    return 0;
}
