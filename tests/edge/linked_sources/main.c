#include <math.h>
#include <stdio.h>
double other(double);
int part(int);
int main(void)
{
    printf("%g %d\n", sqrt(other(5)), part(1));
    return 0;
}
