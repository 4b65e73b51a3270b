// C++20 threading: jthread with stop_token, latch, barrier with completion, counting_semaphore, shared_mutex.
// FLAGS: -pthread
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

int main()
{
    std::latch started(3);
    std::atomic<int> stopped{0};
    int phases = 0, table[3] = {};
    {
        std::vector<std::jthread> workers;
        for (int i = 0; i < 3; i++)
            workers.emplace_back([&](std::stop_token token) {
                started.count_down();
                std::mutex m;
                std::condition_variable_any cv;
                std::unique_lock lock(m);
                cv.wait(lock, token, [] { return false; });
                stopped++;
            });
        started.wait();
        for (auto &w : workers)
            w.request_stop();
    }
    std::barrier step(3, [&]() noexcept { phases += table[0] + table[1] + table[2]; });
    {
        std::vector<std::jthread> workers;
        for (int i = 0; i < 3; i++)
            workers.emplace_back([&, i] {
                for (int k = 0; k < 5; k++) {
                    table[i] = k * (i + 1);
                    step.arrive_and_wait();
                }
            });
    }
    std::counting_semaphore<2> slots(2);
    std::shared_mutex rw;
    std::atomic<int> inside{0}, most{0};
    long value = 0;
    {
        std::vector<std::jthread> workers;
        for (int i = 0; i < 4; i++)
            workers.emplace_back([&] {
                for (int k = 0; k < 50; k++) {
                    slots.acquire();
                    int now = ++inside, seen = most;
                    while (now > seen && !most.compare_exchange_weak(seen, now))
                        ;
                    {
                        std::unique_lock w(rw);
                        value++;
                    }
                    std::shared_lock r(rw);
                    --inside;
                    slots.release();
                }
            });
    }
    std::printf("%d %d %ld %d\n", stopped.load(), phases, value, most <= 2);
}
