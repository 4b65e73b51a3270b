/* Threads end by pthread_exit, which unwinds, by returning, and with variables of their own that have destructors.
 * Expected: nothing. */
#include <atomic>
#include <cassert>
#include <pthread.h>
#include <thread>

static std::atomic<int> unwound, destroyed;

struct on_stack {
    ~on_stack() { unwound++; }
};
struct own {
    int used = 0;
    ~own() { destroyed += used; }
};
static thread_local own mine;

static void *leaves(void *arg)
{
    on_stack here;
    mine.used = 1;
    pthread_exit(arg);
}

int main()
{
    pthread_t t;
    int there = 0;
    void *result;
    pthread_create(&t, nullptr, leaves, &there);
    std::thread returns([] {
        on_stack here;
        mine.used = 1;
    });
    pthread_join(t, &result);
    returns.join();
    assert(result == &there && unwound == 2 && destroyed == 2);
    return 0;
}
