// asm goto with and without outputs, several targets, inside a loop and in an inlined function.
#include <stdio.h>

static inline int is_even(int x)
{
    __asm__ goto("testl $1, %0\n\tjz %l1" : : "r"(x) : "cc" : even);
    return 0;
even:
    return 1;
}
static __attribute__((noinline)) int classify(int x, int *out)
{
    int twice;
    __asm__ goto("movl %1, %0\n\taddl %0, %0\n\tcmpl $10, %1\n\tjl %l3\n\tcmpl $100, %1\n\tjge %l4"
                 : "=&r"(twice)
                 : "r"(x), "m"(*out)
                 : "cc"
                 : small, large);
    *out = twice;
    return 1;
small:
    *out = -1;
    return 0;
large:
    *out += 5;
    return 2;
}

int main(void)
{
    int evens = 0, out = 0;
    for (int i = 0; i < 9; i++)
        evens += is_even(i);
    printf("%d\n", evens);
    for (int i = 5; i < 200; i += 45) {
        int kind = classify(i, &out);
        printf("%d:%d/%d ", i, kind, out);
    }
    printf("\n");
    return 0;
}
