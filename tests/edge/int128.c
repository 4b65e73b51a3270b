// __int128 in memory, arguments, division, shifts, struct members at odd places.
#include <stdio.h>

typedef unsigned __int128 u128;
struct holder {
    char c;
    __int128 v;
    short s;
} __attribute__((packed));
static u128 table[4] = {1, (u128)1 << 127, ~(u128)0, 12345};
static struct holder packed[2];

static void show(u128 v)
{
    printf("%016lx%016lx ", (unsigned long)(v >> 64), (unsigned long)v);
}
static __attribute__((noinline)) __int128 mix(int a, __int128 b, char c, __int128 d)
{
    return a * b - c + d / 3;
}

int main(void)
{
    for (int i = 0; i < 4; i++) {
        table[i] = table[i] * 0x9e3779b97f4a7c15u + table[(i + 3) & 3];
        show(table[i]);
    }
    printf("\n");
    packed[1].v = -5;
    packed[0].v = mix(3, packed[1].v, 'a', (__int128)1 << 90);
    packed[0].s = packed[1].s = 7;
    show((u128)packed[0].v);
    show((u128)(packed[0].v % 1000007));
    show(table[2] >> 67);
    printf("%d %zu\n", (int)(packed[1].v < 0), sizeof packed);
    return 0;
}
