// Inline assembly with memory operands, ties, early clobbers, flag outputs, local register variables, many clobbers.
#include <stdio.h>

static int counter = 5;
static long array[4] = {1, 2, 3, 4};
struct pair {
    int a, b;
};

static __attribute__((noinline)) int carry(unsigned a, unsigned b)
{
    int c;
    __asm__("addl %2, %1" : "=@ccc"(c), "+r"(a) : "r"(b));
    return c;
}
static long raw_getppid(void)
{
    register long nr __asm__("rax") = 39; /* getpid */
    __asm__ volatile("syscall" : "+r"(nr) : : "rcx", "r11", "memory");
    return nr;
}

int main(void)
{
    struct pair p = {3, 4};
    __asm__("incl %0" : "+m"(counter));
    __asm__ volatile("lock; xaddq %0, %1" : "+r"(array[0]), "+m"(array[2]) : : "memory");
    __asm__("movl %1, %%eax\n\taddl %2, %%eax\n\tmovl %%eax, %0" : "=m"(p.a) : "m"(p.a), "m"(p.b) : "eax");
    long out;
    __asm__("leaq (%1,%2,8), %0" : "=&r"(out) : "r"(10L), "r"(4L));
    unsigned lo = 1, hi = 0;
    __asm__("mull %2" : "+a"(lo), "=d"(hi) : "r"(7u) : "cc");
    __asm__ volatile("" : : : "rbx", "r12", "r13", "r14", "r15", "xmm0", "xmm15", "memory");
    printf("%d %ld %ld %d %ld %u %u\n", counter, array[0], array[2], p.a, out, lo, hi);
    printf("%d %d %d\n", carry(~0u, 1), carry(1, 1), raw_getppid() > 0);
    char text[] = "copied by rep movsb", copy[sizeof text];
    void *d = copy;
    const void *s = text;
    unsigned long n = sizeof text;
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
    printf("%s\n", copy);
    return 0;
}
