// Pointers to members: data, functions, virtual functions, through bases, in tables, null ones.
#include <cstdio>

struct First {
    int pad = 9;
    virtual int f(int x)
    {
        return x + pad;
    }
    virtual ~First() = default;
};
struct Second {
    int v = 5;
    virtual int g(int x)
    {
        return x * v;
    }
    int plain(int x) const
    {
        return x - v;
    }
    virtual ~Second() = default;
};
struct Both : First, Second {
    int g(int x) override
    {
        return x * v + pad;
    }
    int f(int x) override
    {
        return -x;
    }
    int fields[3] = {1, 2, 3};
    char c = 'c';
};
struct Row {
    const char *name;
    int (Both::*run)(int);
};

int main()
{
    Both b;
    int (Second::*g)(int) = &Second::g;
    int (Both::*as_both)(int) = g;
    const Row rows[] = {{"f", &Both::f}, {"g", as_both}, {"none", nullptr}};
    for (const Row &r : rows)
        std::printf("%s %d\n", r.name, r.run ? (b.*r.run)(10) : 0);
    int Second::*v = &Second::v;
    int Both::*bv = v;
    b.*bv += 2;
    std::printf("%d %d\n", (b.*g)(1), (b.*(&Second::plain))(100));
    char Both::*c = &Both::c;
    b.*c = 'd';
    int(Both::*array)[3] = &Both::fields;
    (b.*array)[1] = 20;
    int First::*null = nullptr;
    std::printf("%c %d %d %zu\n", b.c, b.fields[1], null == nullptr, sizeof g);
}
