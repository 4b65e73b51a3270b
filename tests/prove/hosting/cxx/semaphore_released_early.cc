/* The slot of a ring is released before it is filled.
 * Expected: race on `ring[]`. */
#include <semaphore>
#include <thread>

static int ring[4];
static std::counting_semaphore<4> filled(0);

static void produce()
{
    for (int i = 0; i < 4; i++) {
#ifdef FIXED
        ring[i] = i;
        filled.release();
#else
        filled.release();
        ring[i] = i;
#endif
    }
}

int main()
{
    std::thread t(produce);
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        filled.acquire();
        sum += ring[i];
    }
    t.join();
    return sum < 0;
}
