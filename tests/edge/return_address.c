// __builtin_return_address and frame_address say the truth about the program's own frames.
// FLAGS: -fno-omit-frame-pointer -fno-optimize-sibling-calls
#include <stdint.h>
#include <stdio.h>

static void *addresses[3];

static __attribute__((noinline)) int lowest(uintptr_t *frame)
{
    addresses[0] = __builtin_return_address(0);
    *frame = (uintptr_t)__builtin_frame_address(0);
    __asm__ volatile("" : : : "memory");
    return 1;
}
static __attribute__((noinline)) int middle(uintptr_t *below, uintptr_t *here)
{
    addresses[1] = __builtin_return_address(0);
    *here = (uintptr_t)__builtin_frame_address(0);
    int r = lowest(below);
    __asm__ volatile("" : : : "memory");
    return r + 1;
}

int main(void)
{
    uintptr_t a = 0, b = 0;
    uintptr_t code = (uintptr_t)&middle, start = (uintptr_t)&main;
    int r = middle(&a, &b);
    uintptr_t into_middle = (uintptr_t)addresses[0] - code, into_main = (uintptr_t)addresses[1] - start;
    printf("%d %d %d\n", r, a < b, b < (uintptr_t)__builtin_frame_address(0));
    printf("%d %d\n", into_middle < 4096, into_main < 4096);
    printf("%d\n", __builtin_extract_return_addr(addresses[0]) == addresses[0]);
    return 0;
}
