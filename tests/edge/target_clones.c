// target_clones: the compiler makes an ifunc and its resolver by itself.
#include <stdio.h>

__attribute__((target_clones("avx2", "default"))) long dot(const int *a, const int *b, int n)
{
    long s = 0;
    for (int i = 0; i < n; i++)
        s += (long)a[i] * b[i];
    return s;
}

int main(void)
{
    static int a[1000], b[1000];
    for (int i = 0; i < 1000; i++)
        a[i] = i, b[i] = 1000 - i;
    printf("%ld %ld\n", dot(a, b, 1000), dot(a + 1, b, 333));
    return 0;
}
