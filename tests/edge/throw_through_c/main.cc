#include <cstdio>
#include <cstdlib>
#include <stdexcept>
extern "C" int each(int n, int (*f)(int, void *), void *arg);
static int check(int i, void *limit)
{
    if (i == *static_cast<int *>(limit))
        throw std::range_error("limit");
    return i;
}
static int compare(const void *a, const void *b)
{
    int x = *static_cast<const int *>(a), y = *static_cast<const int *>(b);
    if (x == 13 || y == 13)
        throw 13;
    return x - y;
}

int main()
{
    for (int limit : {100, 3, 0})
        try {
            std::printf("%d\n", each(5, check, &limit));
        } catch (const std::range_error &e) {
            std::printf("%s\n", e.what());
        }
    int v[] = {5, 2, 9, 1}, w[] = {5, 13, 9};
    std::qsort(v, 4, sizeof *v, compare);
    std::printf("%d %d\n", v[0], v[3]);
    try {
        std::qsort(w, 3, sizeof *w, compare);
    } catch (int n) {
        std::printf("through libc %d\n", n);
    }
}
