// One function of 5,000 statements with memory accesses, made by the preprocessor.
#include <stdio.h>

static volatile int table[256];
#define S1(n)                                                                                                          \
    x = (x ^ (x >> 13)) * 2654435761u + n;                                                                             \
    t[x >> 24] += (int)(x & 15);
#define S5 S1(1) S1(2) S1(3) S1(4) S1(5)
#define S25 S5 S5 S5 S5 S5
#define S125 S25 S25 S25 S25 S25
#define S625 S125 S125 S125 S125 S125

static __attribute__((noinline)) unsigned run(volatile int *t, unsigned x)
{
    S625;
    if (x & 1) {
        S625;
    }
    S625;
    S625;
    return x;
}

int main(void)
{
    unsigned h = 0;
    for (unsigned i = 0; i < 20; i++)
        h = h * 31 + run(table, i);
    for (int i = 0; i < 256; i++)
        h = h * 17 + (unsigned)table[i];
    printf("%u\n", h);
    return 0;
}
