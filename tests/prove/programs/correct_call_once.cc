/* std::call_once and pthread_once: what they made is seen by all who came through.
 * Expected: nothing. */
#include "threads.h"

#include <cassert>
#include <mutex>
#include <thread>

static std::once_flag flag;
static pthread_once_t control = PTHREAD_ONCE_INIT;
static int first, second;

static void user()
{
    std::call_once(flag, [] { first++; });
    pthread_once(&control, [] { second++; });
    assert(first == 1 && second == 1);
}

int main()
{
    std::thread a(user), b(user);
    a.join();
    b.join();
    return 0;
}
