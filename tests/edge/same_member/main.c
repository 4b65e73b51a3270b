#include <stdio.h>
int from_x(void), from_y(void);
int main(void)
{
    int a = from_x(), b = from_y(), c = from_x();
    printf("%d %d %d\n", a, b, c);
    return 0;
}
