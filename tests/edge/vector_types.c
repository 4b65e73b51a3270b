// vector_size types of 8 to 64 bytes, arithmetic, comparison masks, element writes, unaligned typedefs.
#include <stdio.h>
#include <string.h>

typedef int v2si __attribute__((vector_size(8)));
typedef int v4si __attribute__((vector_size(16)));
typedef int v8si __attribute__((vector_size(32)));
typedef double v8df __attribute__((vector_size(64)));
typedef int u4si __attribute__((vector_size(16), aligned(1)));

static v8si table[3];
static v8df wide;
static char raw[40];

static __attribute__((noinline)) void scale(v8df *p, double k)
{
    *p = *p * k + 1.0;
}

int main(void)
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 8; k++)
            table[i][k] = i * 8 + k;
    v8si mask = table[1] > 11;
    table[2] = (table[2] & mask) | (table[0] & ~mask);
    for (int k = 0; k < 8; k++)
        printf("%d ", table[2][k]);
    for (int k = 0; k < 8; k++)
        wide[k] = k * 0.5;
    scale(&wide, 4);
    double sum = 0;
    for (int k = 0; k < 8; k++)
        sum += wide[k] * (k + 1);
    printf("\n%g\n", sum);
    for (int i = 0; i < 40; i++)
        raw[i] = (char)i;
    v4si x = *(u4si *)(void *)(raw + 3);
    *(u4si *)(void *)(raw + 21) = x << 1;
    printf("%08x %08x", x[0], x[3]);
    int word;
    memcpy(&word, raw + 33, sizeof word);
    v2si small = {word, 7};
    small = -small;
    volatile v2si kept = small;
    small = kept;
    printf(" %08x %d\n", small[0], small[1]);
    return 0;
}
