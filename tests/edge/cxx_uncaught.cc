// Nobody catches: the library's message goes to standard error and the program dies of SIGABRT.
// SIGNAL: ABRT
#include <cstdio>
#include <stdexcept>

int main(int argc, char **)
{
    std::printf("before\n");
    std::fflush(stdout);
    if (argc > 0)
        throw std::out_of_range("nobody catches this");
    std::printf("after\n");
}
