// suspect: balance
// A lock by compare-exchange with a guard class, after the small locks of well-known C++ libraries; broken: looks, then takes.
#include <atomic>
#include <thread>
#include <vector>

class SmallLock {
    std::atomic<unsigned char> state{0};

    bool take()
    {
#ifdef BROKEN
        if (state.load(std::memory_order_acquire))
            return false;
        state.store(1, std::memory_order_release);
        return true;
#else
        unsigned char free = 0;
        return state.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
#endif
    }

public:
    void lock()
    {
        while (!take())
            std::this_thread::yield();
    }
    void unlock() { state.store(0, std::memory_order_release); }
};

class Guard {
    SmallLock &lock;

public:
    explicit Guard(SmallLock &l) : lock(l) { lock.lock(); }
    ~Guard() { lock.unlock(); }
};

static SmallLock door;
static long balance;

static void pay()
{
    for (int i = 0; i < 100; i++) {
        Guard inside(door);
        balance += i;
    }
}

int main()
{
    std::thread a(pay), b(pay);
    a.join();
    b.join();
}
