// FLAGS: -latomic
// A std::atomic of a structure of 16 bytes (pointer and generation) hands a node over.
// RIGHT: -mcx16
// WRONG: payload -DPUBLISH=relaxed
// WRONG: payload -DPUBLISH=relaxed -mcx16
#include "../../../invisible.h"

#include <atomic>
#include <cstdio>
#include <thread>
#ifndef PUBLISH
#define PUBLISH release
#endif

struct node {
    int payload;
};
struct top {
    node *first;
    unsigned long generation;
};
static std::atomic<top> stack;
static node the_node;

int main()
{
    std::thread pusher([] {
        the_node.payload = 5;
        top old = stack.load(std::memory_order::relaxed);
        while (!stack.compare_exchange_weak(old, top{&the_node, old.generation + 1}, std::memory_order::PUBLISH,
                                            std::memory_order::relaxed))
            ;
        invisible_reach(1);
    });
    std::thread popper([] {
        invisible_await(1);
        top old = stack.load(std::memory_order::acquire);
        while (!stack.compare_exchange_weak(old, top{nullptr, old.generation + 1}, std::memory_order::acquire))
            ;
        std::printf("%d\n", old.first->payload);
    });
    pusher.join();
    popper.join();
}
