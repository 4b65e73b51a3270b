#include <math.h>
#include <stdio.h>
double fast(const double *, int);
int is_nan_strict(double x)
{
    return x != x;
}
int packed_enum(void);
int main(void)
{
    double v[100];
    for (int i = 0; i < 100; i++)
        v[i] = i;
    printf("%g %d %d\n", fast(v, 100), is_nan_strict(nan("")), packed_enum());
    return 0;
}
