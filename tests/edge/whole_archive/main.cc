#include <cstdio>
struct List {
    const char *names[8];
    int n;
};
List &list()
{
    static List l;
    return l;
}
struct Part {
    explicit Part(const char *s)
    {
        list().names[list().n++] = s;
    }
};
static Part own("main");

int main()
{
    for (int i = 0; i < list().n; i++)
        std::printf("%s\n", list().names[i]);
}
