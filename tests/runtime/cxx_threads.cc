// std::thread is created inside libstdc++: its creation stack must still name the line of the program.
#include "by_hand.h"

#include <thread>

NOINLINE static void start_worker()
{
    ENTER;
    std::thread worker([] {});
    worker.join();
    LEAVE;
}

int main()
{
    ENTER;
    start_worker();
    LEAVE;
    return 0;
}
