/* Each thread has its own copy of a shared pointer; only the count is shared. The last one frees.
 * Expected: nothing. */
#include "threads.h"

#include <cassert>
#include <memory>
#include <thread>

struct document {
    int pages = 3;
    ~document()
    {
        pages = 0;
    }
};

static void reader(std::shared_ptr<document> mine)
{
    std::shared_ptr<document> another(mine);
    mine.reset();
    assert(another->pages == 3);
}

int main()
{
    std::shared_ptr<document> d = std::make_shared<document>();
    std::weak_ptr<document> w = d;
    std::thread a(reader, d), b(reader, d);
    d.reset();
    if (std::shared_ptr<document> still = w.lock())
        assert(still->pages == 3);
    a.join();
    b.join();
    assert(w.expired());
    return 0;
}
