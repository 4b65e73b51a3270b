// Inline assembly inside a function defines symbols: an absolute number, data in a section, as probes and patch tables
// do. FLAGS: -no-pie -fno-pie
#include <stdio.h>

extern char asm_number[];
struct patch {
    int value;
};
extern const struct patch __start_patches[], __stop_patches[];

static __attribute__((noinline)) void marks(int x)
{
    __asm__ volatile(".pushsection patches,\"a\",@progbits\n\t.long 11\n\t.popsection" : : "r"(x));
    __asm__ volatile(".pushsection patches,\"a\",@progbits\n\t.long 22\n\t.popsection");
    __asm__ volatile(".globl asm_number\n\t.set asm_number, 0x4321");
    __asm__ volatile(".globl only_asm_knows\n\t.set only_asm_knows, 0x55");
}

int main(void)
{
    int sum = 0, n = 0, hidden;
    marks(1);
    for (const struct patch *p = __start_patches; p < __stop_patches; p++)
        sum += p->value, n++;
    __asm__("movl $only_asm_knows, %0" : "=r"(hidden));
    printf("%d %d %lx %x\n", n, sum, (unsigned long)asm_number & 0xffff, hidden);
    return 0;
}
