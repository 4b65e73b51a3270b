// Other calling conventions and odd functions: ms_abi, sysv_abi, vectorcall-like, naked, preserve_most, noreturn.
#include <setjmp.h>
#include <stdio.h>

__attribute__((ms_abi, noinline)) static long windows(long a, double b, long c, long d, long e)
{
    return a + (long)b * 10 + c * 100 + d * 1000 + e * 10000;
}
__attribute__((naked, noinline)) static long naked_add(long a __attribute__((unused)), long b __attribute__((unused)))
{
    __asm__("leaq (%rdi,%rsi), %rax\n\tret");
}
#ifdef __clang__
__attribute__((preserve_most, noinline)) static void quiet(int *p)
{
    *p += 5;
}
__attribute__((regcall, noinline)) static int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
    return a - b + c - d + e - f + g * h;
}
#else
static void quiet(int *p)
{
    *p += 5;
}
static int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
    return a - b + c - d + e - f + g * h;
}
#endif
static jmp_buf out;
static _Noreturn __attribute__((cold)) void stop(int n)
{
    longjmp(out, n);
}

int main(void)
{
    int v = 1;
    long (*__attribute__((ms_abi)) volatile p)(long, double, long, long, long) = windows;
    printf("%ld %ld\n", windows(1, 2, 3, 4, 5), p(5, 4, 3, 2, 1));
    quiet(&v);
    printf("%ld %d %d\n", naked_add(40, 2), v, many(1, 2, 3, 4, 5, 6, 7, 8));
    int r = setjmp(out);
    if (!r)
        stop(6);
    printf("%d\n", r);
    return 0;
}
