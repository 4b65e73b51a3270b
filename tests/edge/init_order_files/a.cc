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
static Tell plain("a");
__attribute__((init_priority(2000))) static Tell early("a2000");
__attribute__((constructor)) static void function()
{
    std::printf("fa ");
}
