// The standard library's atomics: of floating point, pointers, bool, structures, flags, references, shared pointers.
// FLAGS: -pthread -latomic
// RIGHT: -mcx16
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

struct pair {
    long a, b;
    bool operator==(const pair &) const = default;
};
struct odd {
    char c[5];
};
enum class colour : short { red, green = 7 };

static std::atomic<float> f{1};
static std::atomic<double> d{2};
static std::atomic<long double> l{3};
static std::atomic<bool> b;
static std::atomic<pair> p{pair{1, 2}};
static std::atomic<odd> o;
static std::atomic<colour> c{colour::red};
static std::atomic_flag flag = ATOMIC_FLAG_INIT;
static std::atomic<int *> pointer;
static auto shared = std::make_shared<int>(1);
static int cells[8];
alignas(16) static long plain[2];

static void worker(int me)
{
    for (int i = 0; i < 500; i++) {
        f.fetch_add(0.5f, std::memory_order_relaxed);
        d.fetch_sub(0.25);
        l = l.load() + 0; // two operations: only the value matters
        b.exchange(!b.load(std::memory_order_acquire), std::memory_order_release);
        pair old = p.load(), next;
        do
            next = pair{old.a + 1, old.b + 2};
        while (!p.compare_exchange_weak(old, next, std::memory_order_acq_rel, std::memory_order_relaxed));
        std::atomic_ref<long>(plain[0]).fetch_add(me);
        while (flag.test_and_set(std::memory_order_acquire))
            std::this_thread::yield();
        plain[1]++;
        flag.clear(std::memory_order_release);
        // Not std::atomic<std::shared_ptr>: libstdc++ 12 gives its lock back relaxed after a load, which is a race.
        std::shared_ptr<int> mine = shared;
        std::weak_ptr<int> watched = mine;
        mine.reset();
        if (!watched.lock())
            std::puts("gone");
    }
}

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(worker, i);
    for (auto &t : threads)
        t.join();
    pair at_end = p;
    std::printf("%g %g %Lg %ld %ld %ld %ld %d\n", f.load(), d.load(), l.load(), at_end.a, at_end.b, plain[0], plain[1],
                (int)shared.use_count());
    o = odd{"abcd"};
    std::printf("%s %d\n", o.load().c, o.is_lock_free());
    colour was = c.exchange(colour::green);
    pointer = cells;
    pointer += 3;
    pointer.fetch_sub(1, std::memory_order_relaxed);
    std::printf("%d %d %td\n", (int)was, (int)c.load(), pointer.load() - cells);
}
