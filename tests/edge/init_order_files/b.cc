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
static Tell plain("b");
__attribute__((init_priority(300))) static Tell early("b300");
__attribute__((constructor)) static void function()
{
    std::printf("fb ");
}
