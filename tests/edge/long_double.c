// x87 long double: ten bytes of value in sixteen of memory, arrays, unions, varargs.
// FLAGS: -lm
#include <math.h>
#include <stdio.h>
#include <string.h>

static long double values[5];
static union {
    long double ld;
    unsigned char bytes[16];
} u;

static __attribute__((noinline)) long double horner(const long double *c, int n, long double x)
{
    long double r = 0;
    while (n--)
        r = r * x + c[n];
    return r;
}

int main(void)
{
    for (int i = 0; i < 5; i++)
        values[i] = 1.0L / (i + 3);
    printf("%.18Lf\n", horner(values, 5, 1.25L));
    u.ld = -1.5L;
    for (int i = 9; i >= 0; i--)
        printf("%02x", u.bytes[i]);
    printf("\n%.18Lg %.18Lg\n", sqrtl(values[2]), powl(values[0], 3));
    volatile long double tiny = 0x1p-16445L;
    printf("%d %La\n", tiny > 0, (long double)tiny);
    long double copy[5];
    memcpy(copy, values, sizeof copy);
    printf("%d\n", copy[4] == values[4]);
    return 0;
}
