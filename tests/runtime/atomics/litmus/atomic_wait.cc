// std::atomic::wait sleeps until the value changes; what is ordered is the load that saw the change.
// WRONG: data -DPUBLISH=relaxed
// WRONG: data -DWAIT=relaxed
#include "../../../invisible.h"

#include <atomic>
#include <cstdio>
#include <thread>
#ifndef PUBLISH
#define PUBLISH release
#endif
#ifndef WAIT
#define WAIT acquire
#endif

static int data;
static std::atomic<int> ready;

int main()
{
    std::thread reader([] {
        ready.wait(0, std::memory_order::WAIT);
        std::printf("%d\n", data);
    });
    std::thread writer([] {
        data = 8;
        ready.store(1, std::memory_order::PUBLISH);
        ready.notify_all();
    });
    writer.join();
    reader.join();
}
