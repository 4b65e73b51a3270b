#include <stdio.h>
int use_a(void), use_b(void);
int main(void)
{
    printf("%d %d\n", use_a(), use_b());
    return 0;
}
