#include <stdio.h>
int setting(void), only_weak(void), through_weak(void), twice_weak(void);
extern int level;

int main(void)
{
    printf("%d %d %d %d %d\n", setting(), only_weak(), through_weak(), level, twice_weak());
    return 0;
}
