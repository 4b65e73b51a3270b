#include <cstdio>
struct Tell {
    const char *s;
    explicit Tell(const char *t) : s(t)
    {
        std::printf("+%s ", s);
    }
    ~Tell()
    {
        std::printf("-%s ", s);
    }
};
static Tell plain("c");
__attribute__((init_priority(1000))) static Tell early("c1000");
__attribute__((constructor)) static void function()
{
    std::printf("fc ");
}
