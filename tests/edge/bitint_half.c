// Odd widths: _BitInt(7), _BitInt(77), _BitInt(200), _Float16 and __bf16 in memory.
#include <stdio.h>
#include <string.h>

#ifdef __clang__
static unsigned _BitInt(7) seven = 120;
static _BitInt(77) wide[3];
static unsigned _BitInt(128) whole = 1;
static struct {
    char c;
    _BitInt(33) v;
} s[2];
#else
#error clang only
#endif
static _Float16 half[4] = {1.5f16, 0.1f16, 65504.0f16, -0.0f16};

int main(void)
{
    seven += 20;
    for (int i = 0; i < 3; i++)
        wide[i] = ((_BitInt(77))i - 1) << 70;
    wide[1] = wide[2] / 3 - wide[0];
    for (int i = 0; i < 100; i++)
        whole = whole * 7 + 3;
    s[1].v = -s[0].v - 5;
    printf("%u %ld %ld %lx %lx %ld %zu\n", (unsigned)seven, (long)(wide[1] >> 40), (long)(wide[2] > wide[0]),
           (unsigned long)(whole >> 64), (unsigned long)whole, (long)s[1].v, sizeof wide[0]);
    for (int i = 0; i < 4; i++)
        half[i] = half[i] * 2.0f16 + half[(i + 1) & 3];
    printf("%g %g %g %g\n", (double)half[0], (double)half[1], (double)half[2], (double)half[3]);
    return 0;
}
