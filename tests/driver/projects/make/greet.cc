#include <cstdio>
#include <string>
extern "C" void greet(const char *who, int n)
{
    std::string s = std::string("hello ") + who;
    std::printf("%s, %d\n", s.c_str(), n);
}
