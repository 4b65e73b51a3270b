// suspect: half
// A barrier class with a generation; broken: nobody waits when the count is not complete.
#include <atomic>
#include <thread>
#include <vector>

class Barrier {
    const int parties;
    std::atomic<int> waiting{0};
    std::atomic<unsigned> generation{0};

public:
    explicit Barrier(int n) : parties(n) {}
    void arrive_and_wait()
    {
        unsigned mine = generation.load(std::memory_order_acquire);
        if (waiting.fetch_add(1, std::memory_order_acq_rel) + 1 == parties) {
            waiting.store(0, std::memory_order_relaxed);
            generation.fetch_add(1, std::memory_order_release);
            return;
        }
#ifndef BROKEN
        while (generation.load(std::memory_order_acquire) == mine)
            std::this_thread::yield();
#else
        (void)mine;
#endif
    }
};

static Barrier together(2);
static int half[2], whole[2];

static void step(int id)
{
    half[id] = id + 1;
    together.arrive_and_wait();
    whole[id] = half[0] + half[1];
}

int main()
{
    std::vector<std::thread> all;
    for (int i = 0; i < 2; i++)
        all.emplace_back([i] { step(i); });
    for (auto &t : all)
        t.join();
    return whole[0] != 3;
}
