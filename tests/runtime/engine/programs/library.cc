// What libstdc++ makes of threads must work in every schedule: threads, futures, exceptions, thread_local destructors,
// streams, shared_ptr, function-local statics, condition variables, atomic waits.
// drive: --schedules=600
// expect: ends: done 600$
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <barrier>
#include <latch>
#include <shared_mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define CHECK(x)                                                                                                       \
    do {                                                                                                               \
        if (!(x)) {                                                                                                    \
            std::cerr << __LINE__ << ": " << #x << std::endl;                                                          \
            std::abort();                                                                                              \
        }                                                                                                              \
    } while (0)

static std::atomic<int> ended{0};

struct counted {
    int value = 3;
    ~counted() { ended += value; }
};
static thread_local counted local;

static int slow_value()
{
    std::this_thread::yield();
    return 42;
}

static int &magic()
{
    static int value = slow_value();
    return value;
}

static void futures()
{
    auto a = std::async(std::launch::async, [] { return magic(); });
    std::promise<std::string> promise;
    std::thread t([&] {
        local.value = 4;
        promise.set_value("promised");
    });
    CHECK(a.get() == 42 && magic() == 42);
    CHECK(promise.get_future().get() == "promised");
    t.join();
    CHECK(ended >= 4);
}

static void exceptions()
{
    auto failing = std::async(std::launch::async, []() -> int { throw std::runtime_error("thrown"); });
    std::string caught;
    try {
        failing.get();
    } catch (const std::runtime_error &e) {
        caught = e.what();
    }
    CHECK(caught == "thrown");
    std::vector<std::thread> threads;
    std::atomic<int> n{0};
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&n, i] {
            try {
                try {
                    throw i;
                } catch (int) {
                    std::this_thread::yield();
                    throw;
                }
            } catch (int seen) {
                n += seen == i;
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(n == 2);
}

static void conditions()
{
    std::mutex m;
    std::condition_variable c;
    bool ready = false;
    std::thread t([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        std::lock_guard<std::mutex> guard(m);
        ready = true;
        c.notify_one();
    });
    {
        std::unique_lock<std::mutex> lock(m);
        c.wait(lock, [&] { return ready; });
        CHECK(c.wait_for(lock, std::chrono::milliseconds(1)) == std::cv_status::timeout);
    }
    t.join();
    std::shared_mutex s;
    std::timed_mutex timed;
    std::thread reader([&] {
        std::shared_lock<std::shared_mutex> lock(s);
        std::unique_lock<std::timed_mutex> other(timed, std::chrono::milliseconds(1));
    });
    {
        std::unique_lock<std::shared_mutex> lock(s);
        std::lock_guard<std::timed_mutex> other(timed);
    }
    reader.join();
}

static void pointers()
{
    auto shared = std::make_shared<std::map<int, std::string>>();
    (*shared)[1] = "one";
    std::weak_ptr<std::map<int, std::string>> weak = shared;
    std::thread a([copy = shared] { CHECK(copy->at(1) == "one"); });
    std::thread b([weak] {
        if (auto locked = weak.lock())
            CHECK(locked->size() == 1);
    });
    shared.reset();
    a.join();
    b.join();
    CHECK(weak.expired());
}

static void waits()
{
    std::atomic<int> flag{0};
    std::counting_semaphore<4> semaphore(0);
    std::latch latch(2);
    std::barrier<> barrier(2);
    std::thread t([&] {
        flag.wait(0);
        semaphore.release();
        latch.count_down();
        barrier.arrive_and_wait();
    });
    flag = 1;
    flag.notify_all();
    semaphore.acquire();
    latch.arrive_and_wait();
    barrier.arrive_and_wait();
    t.join();
}

static void streams()
{
    std::thread t([] { std::cout << "from a thread " << 1.5 << "\n"; });
    std::ostringstream text;
    text << "from main " << 2 << "\n";
    std::cout << text.str();
    t.join();
}

int main(int argc, char **argv)
{
    static const std::map<std::string, void (*)()> tests = {{"futures", futures},   {"exceptions", exceptions},
                                                            {"conditions", conditions}, {"pointers", pointers},
                                                            {"waits", waits},       {"streams", streams}};
    for (const auto &t : tests)
        if (argc < 2 || t.first == argv[1])
            t.second();
    std::cout << "all is well" << std::endl;
}
