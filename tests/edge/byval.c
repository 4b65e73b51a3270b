// Structures passed by value: in registers, in memory, mixed, over-aligned, changed by the callee.
#include <stdio.h>

struct small {
    char c;
    short s;
};
struct two {
    long a;
    double b;
};
struct big {
    int v[20];
};
struct floats {
    float x, y, z;
};
struct aligned {
    _Alignas(32) int v[8];
};

static __attribute__((noinline)) int take(struct small s, struct big b, struct two t, struct floats f, struct aligned a,
                                          struct big c)
{
    b.v[0] += s.c + s.s;
    c.v[19] = b.v[0] * 2;
    a.v[7]++;
    return b.v[0] + c.v[19] + (int)t.a + (int)t.b + (int)(f.x + f.y * f.z) + a.v[7] +
           (int)(((unsigned long)&a & 31) != 0);
}
static __attribute__((noinline)) int deeper(struct big b, int n)
{
    if (!n)
        return b.v[5];
    b.v[5] += n;
    return deeper(b, n - 1) + b.v[5];
}

int main(void)
{
    struct small s = {3, 400};
    struct big b;
    for (int i = 0; i < 20; i++)
        b.v[i] = i;
    struct two t = {50, 60.5};
    struct floats f = {1, 2, 3};
    struct aligned a = {{1, 2, 3, 4, 5, 6, 7, 8}};
    printf("%d\n", take(s, b, t, f, a, b));
    printf("%d %d %d\n", b.v[0], b.v[19], a.v[7]);
    printf("%d\n", deeper(b, 10));
    int (*volatile indirect)(struct big, int) = deeper;
    printf("%d\n", indirect(b, 3));
    return 0;
}
