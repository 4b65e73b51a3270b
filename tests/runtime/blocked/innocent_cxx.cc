// As innocent.c, with what the C++ library waits by: some of it asks the kernel without us seeing it.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

static void pause_for_long()
{
    std::this_thread::sleep_for(std::chrono::milliseconds(450));
}

static void futures()
{
    std::promise<int> p;
    std::future<int> f = p.get_future();
    std::thread t([&] {
        pause_for_long();
        p.set_value(1);
    });
    f.get();
    t.join();
    std::async(std::launch::async, pause_for_long).get();
}

static void latches()
{
    std::latch l(2);
    std::counting_semaphore<4> s(0);
    std::atomic<int> word = 0;
    std::thread t([&] {
        l.arrive_and_wait();
        s.acquire();
        word.wait(0);
    });
    pause_for_long();
    l.arrive_and_wait();
    pause_for_long();
    s.release();
    pause_for_long();
    word = 1;
    word.notify_all();
    t.join();
}

static void conditions()
{
    std::mutex m;
    std::condition_variable c;
    bool ready = false;
    std::thread t([&] {
        pause_for_long();
        std::lock_guard<std::mutex> g(m);
        ready = true;
        c.notify_one();
    });
    std::unique_lock<std::mutex> g(m);
    c.wait(g, [&] { return ready; });
    g.unlock();
    t.join();
}

static void both_at_once()
{
    std::mutex a, b;
    std::shared_mutex s;
    auto work = [&](std::mutex &first, std::mutex &second) {
        for (int i = 0; i < 3000; i++) {
            std::scoped_lock both(first, second);
            std::shared_lock reads(s);
        }
    };
    std::thread t([&] { work(a, b); }), u([&] { work(b, a); });
    t.join();
    u.join();
}

static void statics()
{
    auto slow = [] {
        pause_for_long();
        return 1;
    };
    auto use = [&] {
        static int value = slow();
        return value;
    };
    std::thread t(use), u(use);
    t.join();
    u.join();
}

static const struct {
    const char *name;
    void (*run)();
} cases[] = {
    {"futures", futures},           {"latches", latches}, {"conditions", conditions},
    {"both_at_once", both_at_once}, {"statics", statics},
};

int main(int argc, char **argv)
{
    for (auto &c : cases) {
        if (argc < 2)
            printf("%s\n", c.name);
        else if (!strcmp(argv[1], c.name)) {
            c.run();
            printf("ok\n");
        }
    }
}
