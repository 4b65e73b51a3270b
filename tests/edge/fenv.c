// Floating-point environment: rounding modes and sticky exception flags survive between statements.
// FLAGS: -frounding-math -lm
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <xmmintrin.h>

static volatile double one = 1, three = 3, zero, out[4];
static volatile float tiny = 1e-38f;

int main(void)
{
    const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 4; i++) {
        fesetround(modes[i]);
        out[i] = one / three;
        printf("%a %g\n", out[i], rint(2.5));
    }
    fesetround(FE_TONEAREST);
    feclearexcept(FE_ALL_EXCEPT);
    out[0] = one / zero;
    printf("%d %d", fetestexcept(FE_DIVBYZERO) != 0, fetestexcept(FE_OVERFLOW) != 0);
    out[1] = one / three;
    printf(" %d %d\n", fetestexcept(FE_INEXACT) != 0, fetestexcept(FE_INVALID) != 0);
    unsigned old = _mm_getcsr();
    _mm_setcsr(old | 0x8040); /* flush denormals to zero */
    volatile float flushed = tiny / 10;
    _mm_setcsr(old);
    volatile float kept = tiny / 10;
    printf("%d %d\n", flushed == 0, kept > 0);
    return 0;
}
