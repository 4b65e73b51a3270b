// std::atomic_ref over plain variables: ordered by their orders; a plain access beside it races.
// WRONG: data -DPUBLISH=relaxed
// WRONG: flag -DPLAIN
#include "../../../invisible.h"

#include <atomic>
#include <cstdio>
#include <thread>
#ifndef PUBLISH
#define PUBLISH release
#endif

static double data;
static int flag;

int main()
{
    std::thread writer([] {
        data = 8;
#ifdef PLAIN
        flag = 1;
#else
        std::atomic_ref<int>(flag).store(1, std::memory_order::PUBLISH);
#endif
        invisible_reach(1);
    });
    std::thread reader([] {
        invisible_await(1);
        if (std::atomic_ref<int>(flag).load(std::memory_order::acquire))
            std::printf("%g\n", data);
    });
    writer.join();
    reader.join();
}
