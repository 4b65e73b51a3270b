// std::atomic of class types, atomic_ref, wait/notify, fetch on double, lock-free questions.
// FLAGS: -pthread -latomic
#include <atomic>
#include <cstdio>
#include <thread>

struct Point {
    short x, y;
    bool operator==(const Point &) const = default;
};
struct Big {
    long v[3];
};
static std::atomic<Point> point{Point{1, 2}};
static std::atomic<Big> big;
static std::atomic<double> real{0};
static std::atomic<int> turn{0};
static std::atomic_flag flag;
alignas(8) static long plain;

int main()
{
    std::thread ping([] {
        for (int i = 0; i < 100; i++) {
            turn.wait(i * 2);
            std::atomic_ref<long>(plain).fetch_add(i, std::memory_order_relaxed);
            real.fetch_add(0.5);
            Point p = point.load();
            while (!point.compare_exchange_weak(p, Point{static_cast<short>(p.x + 1), p.y}))
                ;
            turn.fetch_add(1);
            turn.notify_one();
        }
        flag.test_and_set(std::memory_order_release);
        flag.notify_all();
    });
    for (int i = 0; i < 100; i++) {
        turn.store(i * 2 + 1);
        turn.notify_one();
        turn.wait(i * 2 + 1);
    }
    flag.wait(false, std::memory_order_acquire);
    ping.join();
    Big b = big.load();
    b.v[2] = 9;
    big.store(b);
    b = big.exchange(Big{});
    Point p = point;
    std::printf("%d %d %ld %g %ld %d\n", p.x, p.y, plain, real.load(), b.v[2], std::atomic<long>::is_always_lock_free);
}
