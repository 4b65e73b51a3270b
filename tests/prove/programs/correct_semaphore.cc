/* A binary semaphore for the one place there is and a counting one for what lies there. One thread acquires each: where
 * two do, libstdc++ 12 may sleep for ever (its bug 104928; a schedule that does so is found and proven, rightly).
 * Expected: nothing. */
#include "threads.h"

#include <cassert>
#include <semaphore>
#include <thread>

static std::binary_semaphore room(1);
static std::counting_semaphore<4> filled(0);
static int item;

static void producer()
{
    for (int i = 1; i <= 2; i++) {
        room.acquire();
        item = i;
        filled.release();
    }
}

static void consumer()
{
    for (int i = 1; i <= 2; i++) {
        filled.acquire();
        assert(item == i);
        room.release();
    }
}

int main()
{
    std::thread a(consumer), b(producer);
    a.join();
    b.join();
    return 0;
}
