// Variables and functions in named sections: writable, read-only, zero-filled, code.
#include <stdio.h>

__attribute__((section(".data.special"))) static int special = 5;
__attribute__((section(".mydata"))) int mine[4] = {1, 2, 3, 4};
__attribute__((section(".bss.mine"))) static int zero[100];
__attribute__((section(".rodata.mine"))) static const char text[] = "constant";
__attribute__((section(".text.hot"), noinline)) static int hot(int x)
{
    return x + special;
}
__attribute__((section("own_code"), noinline)) int cold_code(int x)
{
    zero[x] += hot(x);
    return zero[x];
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += cold_code(i) + mine[i & 3]++;
    special = 6;
    printf("%d %d %d %s %d\n", sum, hot(1), mine[2], text, zero[99]);
    return 0;
}
