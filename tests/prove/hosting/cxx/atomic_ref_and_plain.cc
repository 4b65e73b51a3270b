/* A counter is added to by atomic_ref, and read without it before the end.
 * Expected: race on `count`. */
#include <atomic>
#include <thread>

static int count;

int main()
{
    std::thread t([] { std::atomic_ref<int>(count).fetch_add(1); });
#ifdef FIXED
    int got = std::atomic_ref<int>(count).load();
#else
    int got = count;
#endif
    t.join();
    return got < 0;
}
