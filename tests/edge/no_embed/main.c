#include <stdio.h>
int closed(int);
int open_data = 1;
int open_function(int x)
{
    return x + open_data;
}
int main(void)
{
    int a = closed(1), b = closed(2);
    printf("%d %d %d\n", a, b, open_data);
    return 0;
}
