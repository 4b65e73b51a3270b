/* Hand-over by std::atomic's wait and notify, there and back.
 * Expected: nothing. */
#include "threads.h"

#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> turn;
static int ball;

static void ping()
{
    ball = 1;
    turn = 1;
    turn.notify_one();
    turn.wait(1);
    assert(ball == 2);
}

static void pong()
{
    turn.wait(0);
    assert(ball == 1);
    ball = 2;
    turn = 2;
    turn.notify_one();
}

int main()
{
    std::thread a(ping), b(pong);
    a.join();
    b.join();
    return 0;
}
