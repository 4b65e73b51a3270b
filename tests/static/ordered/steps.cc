// std::latch and std::counting_semaphore. BROKEN 1: no latch. 2: no semaphore.
#include <cstdio>
#include <latch>
#include <semaphore>
#include <thread>
static std::latch loaded(1);
static std::binary_semaphore answered(0);
static int table[4], answer;

static void worker(int me)
{
#if BROKEN != 1
    loaded.wait();
#endif
    std::printf("%d\n", table[me] + table[me + 2]);
}

static void oracle()
{
    answer = 42;
    answered.release();
}

int main()
{
    std::thread a(worker, 0), b(worker, 1), o(oracle);
    for (int i = 0; i < 4; i++)
        table[i] = i;
    loaded.count_down();
#if BROKEN != 2
    answered.acquire();
#endif
    std::printf("%d\n", answer);
    a.join();
    b.join();
    o.join();
}
