// std::jthread joins by itself. BROKEN 1: read before that.
#include <cstdio>
#include <thread>
static long total;

int main()
{
#if BROKEN == 1
    std::jthread t([] { total = 42; });
    std::printf("%ld\n", total);
#else
    {
        std::jthread t([] { total = 42; });
    }
    std::printf("%ld\n", total);
#endif
}
