/* Two threads compress a block each in three ways, and look whether it comes back. */
#include <lz4.h>
#include <lz4frame.h>
#include <lz4hc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 2, SIZE = 512 };

struct work {
    char text[SIZE];
    int ok;
};

static int same(const struct work *w, const char *packed, int n)
{
    char back[SIZE];
    return LZ4_decompress_safe(packed, back, n, SIZE) == SIZE && memcmp(back, w->text, SIZE) == 0;
}

static int same_frame(const struct work *w, const char *packed, size_t n)
{
    char back[SIZE];
    size_t size = SIZE;
    LZ4F_dctx *d;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&d, LZ4F_VERSION)))
        return 0;
    size_t left = LZ4F_decompress(d, back, &size, packed, &n, NULL);
    LZ4F_freeDecompressionContext(d);
    return left == 0 && size == SIZE && memcmp(back, w->text, SIZE) == 0;
}

static void *compress(void *arg)
{
    struct work *w = arg;
    char packed[2 * SIZE];
    for (int i = 0; i < SIZE; i++)
        w->text[i] = (char)('a' + (i * i / (w->ok + 3)) % 7);
    w->ok = same(w, packed, LZ4_compress_default(w->text, packed, SIZE, sizeof packed));
    w->ok += same(w, packed, LZ4_compress_HC(w->text, packed, SIZE, sizeof packed, 3));
    w->ok += same_frame(w, packed, LZ4F_compressFrame(packed, sizeof packed, w->text, SIZE, NULL));
    return NULL;
}

int main(void)
{
    static struct work works[THREADS];
    pthread_t threads[THREADS];
    int ok = 0;
    for (int i = 0; i < THREADS; i++) {
        works[i].ok = i;
        pthread_create(&threads[i], NULL, compress, &works[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ok += works[i].ok;
    }
    printf("%d of %d came back\n", ok, 3 * THREADS);
    return ok != 3 * THREADS;
}
