// -no-pie -fno-pic: absolute addresses in code and data, addresses that fit in 32 bits.
// FLAGS: -no-pie -fno-pie -fno-pic
#include <stdint.h>
#include <stdio.h>

static int table[3] = {1, 2, 3};
static int *const into = table + 1;
int main(void)
{
    static void *labels[] = {&&one, &&two};
    int low = (uintptr_t)table < (1ul << 31) && (uintptr_t)&main < (1ul << 31);
    unsigned address;
    __asm__("movl $%c1, %0" : "=r"(address) : "i"(table));
    goto *labels[*into - 1];
one:
    return 1;
two:
    printf("%d %d\n", low, (uintptr_t)table == address);
    return 0;
}
