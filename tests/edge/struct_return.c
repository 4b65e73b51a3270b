// Structures returned in registers, in mixed registers and through memory, also into themselves.
#include <stdio.h>

struct one {
    char c[3];
};
struct mixed {
    int i;
    double d;
};
struct xmm {
    float a, b, c, d;
};
struct big {
    long v[9];
};
union either {
    double d;
    struct {
        int lo, hi;
    } w;
};

static __attribute__((noinline)) struct one make_one(char c)
{
    return (struct one){{c, (char)(c + 1), (char)(c + 2)}};
}
static __attribute__((noinline)) struct mixed make_mixed(struct one o)
{
    return (struct mixed){o.c[2], o.c[0] * 0.5};
}
static __attribute__((noinline)) struct xmm make_xmm(struct mixed m)
{
    return (struct xmm){(float)m.i, (float)m.d, 3, 4};
}
static __attribute__((noinline)) struct big rotate(struct big b)
{
    long first = b.v[0];
    for (int i = 0; i < 8; i++)
        b.v[i] = b.v[i + 1];
    b.v[8] = first;
    return b;
}
static __attribute__((noinline)) union either make_either(int hi)
{
    union either e = {.w = {1, hi}};
    return e;
}

int main(void)
{
    struct one o = make_one('p');
    struct mixed m = make_mixed(o);
    struct xmm x = make_xmm(m);
    struct big b = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
    for (int i = 0; i < 4; i++)
        b = rotate(b);
    printf("%.3s %d %g %g %g %ld %ld\n", o.c, m.i, m.d, (double)x.a, (double)x.d, b.v[0], b.v[8]);
    printf("%a %ld\n", make_either(0x40000000).d, rotate(rotate(b)).v[3]);
    return 0;
}
