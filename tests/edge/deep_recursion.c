// A hundred thousand live frames, unwound by return, and again by longjmp.
#include <setjmp.h>
#include <stdio.h>

static jmp_buf top;

static __attribute__((noinline)) long down(long n, long *where)
{
    long here = n;
    if (n == 0)
        return *where;
    long r = down(n - 1, &here);
    return (r * 3 + here) % 1000003;
}
static __attribute__((noinline)) int jump(int n)
{
    volatile int keep = n;
    if (n == 0)
        longjmp(top, 1);
    return jump(n - 1) + keep;
}

int main(void)
{
    long start = 5;
    printf("%ld\n", down(50000, &start));
    for (volatile int i = 0; i < 20; i++)
        if (!setjmp(top))
            jump(50000);
    printf("%ld\n", down(100000, &start));
    return 0;
}
