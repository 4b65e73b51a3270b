#include <stdio.h>
int two(int);
int main(void)
{
    int a = two(1), b = two(1);
    printf("%d %d\n", a, b);
    return 0;
}
