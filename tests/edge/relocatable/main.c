#include <stdio.h>
int use_a(void), use_b(void), use_c(void);
int main(void)
{
    printf("%d %d %d\n", use_a(), use_b(), use_c());
    return 0;
}
