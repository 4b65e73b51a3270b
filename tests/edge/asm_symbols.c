// Inline assembly that names C symbols: calls a static function, reads a static variable, takes an address.
#include <stdio.h>

static int hidden_value = 1234;
static __attribute__((used, noinline)) long hidden_function(long x)
{
    return x * 2 + hidden_value;
}
int visible_value = 55;

int main(void)
{
    long r;
    /* The red zone of main is in use: step over it before calling. */
    __asm__ volatile("subq $128, %%rsp\n\tcall %P1\n\taddq $128, %%rsp"
                     : "=a"(r)
                     : "i"(hidden_function), "D"(100L)
                     : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
                       "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory",
                       "cc");
    int a, b;
    __asm__("movl hidden_value(%%rip), %0" : "=r"(a) : "m"(hidden_value));
    __asm__("movl visible_value(%%rip), %0" : "=r"(b));
    printf("%ld %d %d\n", r, a, b);
    hidden_value++;
    printf("%ld\n", hidden_function(0));
    return 0;
}
