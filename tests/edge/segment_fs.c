// Accesses through another address space (fs segment): an address there is no pointer for anybody else.
#include <stdint.h>
#include <stdio.h>

static __thread int mine = 77;
#ifdef __clang__
#define FS __attribute__((address_space(257)))
#else
#define FS __seg_fs
#endif

int main(void)
{
    uintptr_t base = *(uintptr_t FS *)0; /* x86-64 ABI: the word at fs:0 is its own address */
    uintptr_t offset = (uintptr_t)&mine - base;
    int FS *there = (int FS *)offset;
    printf("%d", *there);
    *there += 5;
    *(volatile int FS *)there = *there * 2;
    printf(" %d\n", mine);
    return 0;
}
