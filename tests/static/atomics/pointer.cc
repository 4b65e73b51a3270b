// suspect: State
// State is replaced by publishing a pointer to a new one, which nobody changes afterwards; broken: the writer does.
#include <atomic>
#include <cstdio>
#include <thread>

struct State {
    int version, limit;
};

static std::atomic<State *> current{nullptr};

static void update()
{
    for (int i = 1; i < 10; i++) {
        auto *next = new State{i, 10 * i};
        current.store(next, std::memory_order_release);
#ifdef BROKEN
        next->limit++;
#endif
    }
}

static void watch()
{
    for (int i = 0; i < 100; i++)
        if (State *now = current.load(std::memory_order_acquire))
            std::printf("%d %d\n", now->version, now->limit);
}

int main()
{
    std::thread u(update), w(watch);
    u.join();
    w.join();
}
