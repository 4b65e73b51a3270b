// _Complex float, double and long double: arguments, results, arrays, libm.
// FLAGS: -lm
#include <complex.h>
#include <stdio.h>

static double complex z[4];
static float complex f = 1.0f + 2.0f * I;
static long double complex l;

static __attribute__((noinline)) double complex turn(double complex a, float complex b)
{
    return a * I + b;
}
static __attribute__((noinline)) float complex half(float complex a)
{
    return a / 2;
}

int main(void)
{
    for (int k = 0; k < 4; k++)
        z[k] = turn(k + 1 - k * I, f);
    __real__ z[2] = 9;
    __imag__ z[2] += 1;
    for (int k = 0; k < 4; k++)
        printf("(%g,%g) ", creal(z[k]), cimag(z[k]));
    f = half(f * f);
    l = (long double complex)z[1] * z[2];
    printf("\n(%g,%g) (%Lg,%Lg) %.10f %d\n", (double)crealf(f), (double)cimagf(f), creall(l), cimagl(l), cabs(z[3]),
           z[0] == conj(conj(z[0])));
    return 0;
}
