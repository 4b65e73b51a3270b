// GNU ifunc: the resolver runs before main and before relocation is finished; called, addressed, stored.
#include <stdio.h>

static int plain(int x)
{
    return x + 1;
}
static int fancy(int x)
{
    return x + 2;
}
typedef int (*fn)(int);
static fn resolve(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse2") ? fancy : plain;
}
int chosen(int x) __attribute__((ifunc("resolve")));
static int chosen_static(int x) __attribute__((ifunc("resolve")));
static fn table[] = {chosen, plain};

int main(void)
{
    fn p = chosen;
    printf("%d %d %d %d\n", chosen(1), chosen_static(10), p(100), table[0](1000));
    p = plain;
    printf("%d\n", p == table[1]);
    return 0;
}
