// suspect: table
// Built once by whoever comes first, the others wait until it is there; broken: the others do not wait.
#include <atomic>
#include <thread>

static std::atomic<int> state{0};
static int table[16];

static void prepare()
{
    int fresh = 0;
    if (state.compare_exchange_strong(fresh, 1, std::memory_order_acquire)) {
        for (int i = 0; i < 16; i++)
            table[i] = i * i;
        state.store(2, std::memory_order_release);
#ifndef BROKEN
    } else {
        while (state.load(std::memory_order_acquire) != 2)
            std::this_thread::yield();
#endif
    }
}

static int use(int i)
{
    prepare();
    return table[i];
}

int main()
{
    std::atomic<int> sum{0};
    std::thread a([&] { sum += use(3); }), b([&] { sum += use(4); });
    a.join();
    b.join();
    return sum != 25;
}
