// The last std::shared_ptr destroys what other threads have used: the library's counts order that.
// WRONG: value -DUNSYNCHRONISED
#include "../../../invisible.h"

#include <cstdio>
#include <memory>
#include <thread>

struct object {
    int value = 0;
    ~object()
    {
        std::printf("%d\n", value++ >= 0);
    }
};

static void use(std::shared_ptr<object> mine)
{
    mine->value = 1;
    mine.reset();
    invisible_reach(1);
}

static void use_later(std::shared_ptr<object> mine)
{
    invisible_await(1);
#ifdef UNSYNCHRONISED
    mine->value = 2;
#endif
    mine.reset();
}

int main()
{
    auto first = std::make_shared<object>();
    std::weak_ptr<object> watch = first;
    std::thread a(use, first), b(use_later, std::move(first));
    a.join();
    b.join();
    std::printf("%d\n", watch.expired());
}
