#include <cstdio>
#include <stdexcept>
int visit(int n, int (*f)(int));
extern "C" int replaceable(int x)
{
    return x * 1000;
}
static int seen[10];
static int mark(int i)
{
    if (i == 3 && seen[3] == 1)
        throw i;
    return ++seen[i];
}

int main()
{
    for (int n : {3, 4, 8, 9})
        try {
            std::printf("%d\n", visit(n, mark));
        } catch (const std::length_error &e) {
            std::printf("%s\n", e.what());
        } catch (int i) {
            std::printf("thrown through the library: %d\n", i);
        }
}
