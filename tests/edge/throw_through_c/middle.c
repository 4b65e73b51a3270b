#include <stdio.h>
static void closed(int *p)
{
    printf("cleanup %d\n", *p);
}
int each(int n, int (*f)(int, void *), void *arg)
{
    __attribute__((cleanup(closed))) int at = 0;
    int sum = 0;
    for (; at < n; at++)
        sum += f(at, arg);
    return sum;
}
