/* .dht files; and, since their hashes keep damage away from what is inside, blocks and metadata by themselves. */
#include "host/file.h"
#include "trace/dht.h"
#include "trace/dht_block.h"
#include "trace/dht_meta.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void as_block(const uint8_t *bytes, size_t n)
{
    struct dh_block_reader *r = dh_block_reader_new();
    struct dh_event e;
    volatile uint64_t sum = 0;
    for (size_t events = 0; events < n && events < 64; events++)
        if (dh_block_begin(r, bytes, n, events))
            while (dh_block_next(r, &e))
                sum += e.addr + dh_event_info(e.kind)->group;
    dh_block_reader_free(r);
}

static void as_meta(const uint8_t *bytes, size_t n)
{
    struct dh_meta m = {0};
    dh_meta_read(&m, bytes, n);
    for (size_t i = 1; i < m.contexts.n; i++)
        if (m.contexts.at[i].parent >= i)
            abort();
    for (size_t i = 0; i < m.places.n; i++)
        if (!m.places.at[i].file || !m.places.at[i].variable || !m.places.at[i].function)
            abort();
    dh_meta_release(&m);
}

static void as_file(const uint8_t *bytes, size_t n)
{
    struct dh_err err = {0};
    struct dh_meta m = {0};
    struct dh_event e;
    char path[64];
    enum dh_dht_answer a = DH_DHT_ERROR;
    int fd = memfd_create("trace", 0);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct dh_dht_reader *r = dh_dht_open(path, &m, &err);
    while (r && (a = dh_dht_next(r, &e, &err)) == DH_DHT_EVENT)
        ;
    if ((a == DH_DHT_ERROR) != (err.text != NULL))
        abort();
    dh_dht_reader_free(r);
    dh_meta_release(&m);
    dh_err_release(&err);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    as_block(bytes, n);
    as_meta(bytes, n);
    as_file(bytes, n);
    return 0;
}
