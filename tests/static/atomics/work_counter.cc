// suspect: result
// Workers count down what is left, the main thread waits until nothing is; broken: it waits for the first one only.
#include <atomic>
#include <thread>
#include <vector>

static std::atomic<int> pending{4};
static long result[4];

static void work(int number)
{
    result[number] = number * 10;
    pending.fetch_sub(1, std::memory_order_acq_rel);
}

static long sum()
{
    long all = 0;
#ifdef BROKEN
    while (pending.load(std::memory_order_relaxed) > 3)
        std::this_thread::yield();
#else
    while (pending.load(std::memory_order_acquire) > 0)
        std::this_thread::yield();
#endif
    for (long r : result)
        all += r;
    return all;
}

int main()
{
    for (int i = 0; i < 4; i++)
        std::thread([i] { work(i); }).detach();
    return sum() != 60;
}
