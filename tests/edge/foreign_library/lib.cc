#include <stdexcept>
extern "C" int replaceable(int x)
{
    return x;
}
int visit(int n, int (*f)(int))
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        s += f(i) + replaceable(1);
        if (i == 5)
            throw std::length_error("too long");
    }
    return s;
}
