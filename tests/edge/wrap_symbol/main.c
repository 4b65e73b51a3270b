#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int compute(int), __real_compute(int), inside(int);
void *__real_malloc(size_t);
static int wrapped, allocations;

int __wrap_compute(int x)
{
    wrapped++;
    return __real_compute(x) + 1000;
}
void *__wrap_malloc(size_t n)
{
    allocations++;
    return __real_malloc(n);
}
pid_t __wrap_getpid(void)
{
    return 4242;
}

int main(void)
{
    int a = compute(1), b = inside(2);
    void *volatile p = malloc(10);
    free(p);
    printf("%d %d %d %d %d\n", a, b, wrapped, allocations, (int)getpid());
    return 0;
}
