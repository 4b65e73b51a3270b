// Sums of floating point by std::atomic::fetch_add (a loop of the library) and by the compiler's own: both publish.
// WRONG: data -DPUBLISH=relaxed
// WRONG: other -DPUBLISH=relaxed
#include "../../../invisible.h"

#include <atomic>
#include <cstdio>
#include <thread>
#ifndef PUBLISH
#define PUBLISH release
#endif

static int data, other;
static std::atomic<double> sum;
static float raw;

int main()
{
    std::thread writer([] {
        data = 3;
        sum.fetch_add(1.5, std::memory_order::PUBLISH);
        other = 4;
        __atomic_fetch_add(&raw, 2.5f, (int)std::memory_order::PUBLISH);
        invisible_reach(1);
    });
    std::thread reader([] {
        invisible_await(1);
        if (sum.fetch_sub(0.5, std::memory_order::acquire) > 1)
            std::printf("%d\n", data);
        if (__atomic_fetch_sub(&raw, 0.5f, __ATOMIC_ACQUIRE) > 1)
            std::printf("%d\n", other);
    });
    writer.join();
    reader.join();
}
