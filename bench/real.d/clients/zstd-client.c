/* Two threads compress and unpack a file through libzstd.so at once, each with two workers of the library. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static char *data;
static size_t data_size;

static void require(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "zstd-client: %s\n", what);
        exit(1);
    }
}

static void *round_trip(void *packed_size)
{
    size_t room = ZSTD_compressBound(data_size);
    char *packed = malloc(room), *back = malloc(data_size);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    require(packed && back && context, "no memory");
    require(!ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, 2)), "library without threads");
    size_t n = ZSTD_compress2(context, packed, room, data, data_size);
    require(!ZSTD_isError(n), "compress");
    require(ZSTD_decompress(back, data_size, packed, n) == data_size, "decompress");
    require(memcmp(back, data, data_size) == 0, "what comes back is not what went in");
    ZSTD_freeCCtx(context);
    free(packed);
    free(back);
    *(size_t *)packed_size = n;
    return NULL;
}

static void read_data(const char *path)
{
    FILE *f = fopen(path, "rb");
    require(f && fseek(f, 0, SEEK_END) == 0, "cannot read the file");
    data_size = (size_t)ftell(f);
    rewind(f);
    data = malloc(data_size);
    require(data && fread(data, 1, data_size, f) == data_size, "cannot read the file");
    fclose(f);
}

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-')
        return 0;
    read_data(argv[1]);
    pthread_t worker[2];
    size_t packed[2];
    for (int i = 0; i < 2; i++)
        require(pthread_create(&worker[i], NULL, round_trip, &packed[i]) == 0, "pthread_create");
    for (int i = 0; i < 2; i++)
        pthread_join(worker[i], NULL);
    printf("%zu %zu\n", packed[0], packed[1]);
    free(data);
    return 0;
}
