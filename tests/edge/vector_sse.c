// SSE intrinsics: aligned, unaligned, streaming and partial loads and stores.
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static float a[16] __attribute__((aligned(16)));
static unsigned char bytes[64];

int main(void)
{
    for (int i = 0; i < 16; i++)
        a[i] = (float)i;
    __m128 sum = _mm_setzero_ps();
    for (int i = 0; i < 13; i++)
        sum = _mm_add_ps(sum, _mm_loadu_ps(a + i));
    _mm_store_ps(a, sum);
    _mm_storel_pi((__m64 *)(a + 5), _mm_load1_ps(a + 9));
    _mm_store_ss(a + 8, _mm_sqrt_ss(_mm_set_ss(49)));
    for (int i = 0; i < 16; i++)
        printf("%g ", (double)a[i]);
    for (int i = 0; i < 64; i++)
        bytes[i] = (unsigned char)(i * 37);
    __m128i x = _mm_loadu_si128((__m128i *)(bytes + 3)), y = _mm_loadl_epi64((__m128i *)(bytes + 17));
    x = _mm_xor_si128(_mm_add_epi8(x, y), _mm_shuffle_epi32(x, 0x1b));
    _mm_storeu_si128((__m128i *)(bytes + 41), x);
    printf("\nmask %x", _mm_movemask_epi8(_mm_cmpgt_epi8(x, y)));
    _mm_maskmoveu_si128(x, _mm_cmplt_epi8(x, y), (char *)bytes + 1);
    _mm_stream_si32((int *)(void *)(bytes + 60), 0x01020304);
    _mm_sfence();
    uint32_t h = 2166136261u;
    for (int i = 0; i < 64; i++)
        h = (h ^ bytes[i]) * 16777619u;
    printf(" hash %08x\n", h);
    __m128d d = _mm_loadh_pd(_mm_loadl_pd(_mm_setzero_pd(), (double[]){1.5}), (double[]){2.5});
    double out[2];
    _mm_storeu_pd(out, d);
    printf("%g %g\n", out[0], out[1]);
    return 0;
}
