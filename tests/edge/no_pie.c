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
    __asm__("movl $table_end, %0" : "=r"(address));
    __asm__(".globl table_end\n\t.set table_end, 0x4321");
    goto *labels[*into - 1];
one:
    return 1;
two:
    printf("%d %x\n", low, address);
    return 0;
}
