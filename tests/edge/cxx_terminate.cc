// An exception leaves a noexcept function: the program's own terminate handler runs and picks the exit status.
// EXIT: 88
#include <cstdio>
#include <cstdlib>
#include <exception>

struct Quiet {
    ~Quiet()
    {
        std::printf("destroyed\n");
    }
};
static void inner()
{
    throw 5;
}
static void strict() noexcept
{
    inner();
}
static void mine()
{
    try {
        std::rethrow_exception(std::current_exception());
    } catch (int v) {
        std::printf("terminate with %d, uncaught %d\n", v, std::uncaught_exceptions());
    }
    std::fflush(stdout);
    std::_Exit(88);
}

int main()
{
    std::set_terminate(mine);
    {
        Quiet q;
    }
    strict();
}
