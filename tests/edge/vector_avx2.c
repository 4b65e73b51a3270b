// One function compiled for AVX2 in a baseline program: gathers, masked loads and stores, 32-byte values.
// NEEDS: avx2
#include <immintrin.h>
#include <stdio.h>

static int table[64];
static int out[11];

__attribute__((target("avx2"), noinline)) static int gather(const int *base, int n)
{
    __m256i index = _mm256_setr_epi32(0, 7, 14, 21, 28, 35, 42, 49);
    __m256i got = _mm256_i32gather_epi32(base, index, 4);
    __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    _mm256_maskstore_epi32(out + 1, mask, got);
    __m256i back = _mm256_maskload_epi32(out, mask);
    int lanes[8], sum = 0;
    _mm256_storeu_si256((__m256i *)lanes, _mm256_add_epi32(back, got));
    for (int i = 0; i < 8; i++)
        sum = sum * 3 + lanes[i];
    return sum;
}

int main(void)
{
    for (int i = 0; i < 64; i++)
        table[i] = i * i;
    for (int n = 0; n <= 8; n += 3) {
        printf("%d:", gather(table, n));
        for (int i = 0; i < 11; i++)
            printf(" %d", out[i]);
        printf("\n");
    }
    return 0;
}
