#include <stdio.h>
const char *registered[4];
int n_registered;
int main(void)
{
    for (int i = 0; i < n_registered; i++)
        printf("%s\n", registered[i]);
    printf("%d\n", n_registered);
    return 0;
}
