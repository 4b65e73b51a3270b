#include <stdio.h>
int twice_of_c(int), times_factor(int);
extern int asm_calls;
static int base = 3;
int from_c(int x)
{
    return x + base++;
}
int main(void)
{
    int a = twice_of_c(10), b = times_factor(7);
    printf("%d %d %d\n", a, b, asm_calls);
    return 0;
}
