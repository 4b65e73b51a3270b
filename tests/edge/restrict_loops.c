// Loops the vectoriser likes: restrict, reductions, strides, overlapping copies, early exits, floats.
#include <stdio.h>
#include <string.h>

enum { N = 1021 };
static int a[N], b[N], c[N];
static float f[N], g[N];
static unsigned char bytes[4 * N];

static __attribute__((noinline)) void add(int *restrict d, const int *restrict x, const int *restrict y, int n)
{
    for (int i = 0; i < n; i++)
        d[i] = x[i] * 3 + y[i];
}
static __attribute__((noinline)) void may_overlap(int *d, const int *s, int n)
{
    for (int i = 0; i < n; i++)
        d[i] = s[i] + 1;
}
static __attribute__((noinline)) int find(const int *v, int n, int what)
{
    for (int i = 0; i < n; i++)
        if (v[i] == what)
            return i;
    return -1;
}
static __attribute__((noinline)) void conditional(float *restrict x, const float *restrict y, int n)
{
    for (int i = 0; i < n; i++)
        if (y[i] > 3.0f)
            x[i] = y[i] * 0.5f;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = i, b[i] = N - i, g[i] = (float)(i % 9), f[i] = -1;
    add(c, a, b, N);
    may_overlap(c + 3, c, N - 3);
    may_overlap(c, c + 1, N - 1);
    conditional(f, g, N);
    unsigned sum = 0, x = 0;
    float fs = 0;
    for (int i = 0; i < N; i++)
        sum += (unsigned)c[i] * (unsigned)(i | 1), x ^= (unsigned)c[i], fs += f[i];
    for (int i = 0; i < N; i++)
        bytes[i * 4 + 1] = (unsigned char)c[N - 1 - i];
    memmove(bytes + 5, bytes, sizeof bytes - 5);
    unsigned h = 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        h += bytes[i] * (unsigned)i;
    printf("%u %u %g %u %d %d\n", sum, x, (double)fs, h, find(a, N, 1000), find(b, N, -5));
    return 0;
}
