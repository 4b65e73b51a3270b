#include <cstdio>
int main()
{
    std::printf("main\n");
}
