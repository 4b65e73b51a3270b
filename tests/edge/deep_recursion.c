// A hundred thousand live frames on a large thread stack, 40,000 on main's own; unwound by return and by longjmp.
// FLAGS: -pthread
#include <pthread.h>
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
static void *deepest(void *arg)
{
    long start = 5;
    *(long *)arg = down(100000, &start);
    return NULL;
}

int main(void)
{
    long start = 5, result = 0;
    printf("%ld\n", down(40000, &start));
    for (volatile int i = 0; i < 20; i++)
        if (!setjmp(top))
            jump(40000);
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, 64 << 20);
    pthread_t t;
    pthread_create(&t, &large, deepest, &result);
    pthread_join(t, NULL);
    printf("%ld\n", result);
    printf("%ld\n", down(40000, &start));
    return 0;
}
