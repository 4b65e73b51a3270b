// Loops whose bound or first value is an atomic load, which is replaced by a call while the loop is known by it.
#include <stdatomic.h>
#include <stdio.h>

static _Atomic unsigned char last;
static atomic_int first, limit;
static int values[256];

static __attribute__((noinline)) int fill(void)
{
    unsigned char end = atomic_load(&last);
    unsigned char i = 0;
    do
        values[i] = i;
    while (++i != end);
    return i;
}

static __attribute__((noinline)) int sum(void)
{
    int total = 0, end = atomic_load(&limit);
    for (int i = atomic_load(&first); i < end; i++)
        total += values[i];
    return total;
}

int main(void)
{
    atomic_store(&last, 200);
    atomic_store(&first, 10);
    atomic_store(&limit, 100);
    int filled = fill();
    printf("%d %d\n", filled, sum());
    return 0;
}
