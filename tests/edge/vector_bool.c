// Clang's ext_vector types: <8 x i1> masks in memory, three-element vectors, conversions, shuffles.
#include <stdio.h>

typedef float float3 __attribute__((ext_vector_type(3)));
typedef int int8v __attribute__((ext_vector_type(8)));
typedef _Bool bool8 __attribute__((ext_vector_type(8)));
typedef _Bool bool5 __attribute__((ext_vector_type(5)));
typedef unsigned char uchar3 __attribute__((ext_vector_type(3)));

static bool8 masks[4];
static float3 points[3];
static bool5 odd;

static __attribute__((noinline)) bool8 make(int8v v, int limit)
{
    return __builtin_convertvector(v > limit, bool8);
}

int main(void)
{
    int8v v = {5, 1, 9, -3, 4, 4, 100, 0};
    for (int i = 0; i < 4; i++)
        masks[i] = make(v, i * 3);
    masks[3][0] = 1;
    masks[1] = masks[1] | masks[3];
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 8; k++)
            putchar(masks[i][k] ? '1' : '0');
        putchar(' ');
    }
    odd[2] = 1;
    odd[4] = !odd[3];
    printf("%d%d%d%d%d\n", odd[0], odd[1], odd[2], odd[3], odd[4]);
    for (int i = 0; i < 3; i++)
        points[i] = (float3)(1.0f + i, 2.0f * i, 3.0f);
    points[1].xy = points[2].yz;
    points[0] += points[1].zyx;
    printf("%g %g %g %zu\n", (double)points[0].x, (double)points[0].y, (double)points[0].z, sizeof points[0]);
    uchar3 c = {250, 251, 252};
    volatile uchar3 kept = c + (unsigned char)10;
    c = kept;
    printf("%d %d %d\n", c.x, c.y, c.z);
    return 0;
}
