/* A local static is made once, by whoever comes first; the others wait.
 * Expected: nothing. */
#include "threads.h"

#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> made;

struct table {
    int entries[4];
    table()
    {
        made++;
        for (int &e : entries)
            e = 1;
    }
};

static const table &only()
{
    static table t;
    return t;
}

static void user()
{
    assert(only().entries[3] == 1);
}

int main()
{
    std::thread a(user), b(user), c(user);
    a.join();
    b.join();
    c.join();
    assert(made == 1);
    return 0;
}
