/* A record has 16 bits: a row, and how the event differs from the last one of that row. Most have the same place,
 * thread and size, at an address not far from the last one. */
#include "trace/event_buffer.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

enum { ROWS = 1 << 14, CHUNK = 2 << 20, LEVEL = -5, RECORD_MOST = 2 + sizeof(struct dh_event) };

enum mode { SAME, SHORT, NEAR, OTHER, MODE_SHIFT = 14 }; /* what follows: nothing, a distance, the whole event */

struct chunk {
    void *at;
    size_t n, raw; /* bytes; those they become. The same: it is not packed */
};

struct dh_event_buffer {
    struct dh_event rows[ROWS]; /* the last events */
    uint64_t seq;               /* of the last event that has one */
    DH_VEC(struct chunk) chunks;
    size_t bytes; /* of them */
    size_t raw_most;
    ZSTD_CCtx *zstd;
    size_t n;
    unsigned char *now; /* CHUNK bytes */
    unsigned char packed[ZSTD_COMPRESSBOUND(CHUNK)];
};

/* In huge pages, where the system has them. */
static unsigned char *new_chunk(void)
{
    unsigned char *at = aligned_alloc(CHUNK, CHUNK);
    if (!at)
        abort();
    return at;
}

struct dh_event_buffer *dh_event_buffer_new(size_t raw_most)
{
    struct dh_event_buffer *k = DH_NEW(struct dh_event_buffer);
    k->raw_most = raw_most;
    k->zstd = ZSTD_createCCtx();
    if (!k->zstd)
        abort();
    k->now = new_chunk();
    return k;
}

void dh_event_buffer_free(struct dh_event_buffer *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->chunks.n; i++)
        free(k->chunks.at[i].at);
    dh_vec_release(&k->chunks);
    ZSTD_freeCCtx(k->zstd);
    free(k->now);
    free(k);
}

size_t dh_event_buffer_bytes(const struct dh_event_buffer *k)
{
    return k->bytes;
}

static struct chunk packed_chunk(struct dh_event_buffer *k)
{
    size_t n = ZSTD_compressCCtx(k->zstd, k->packed, sizeof k->packed, k->now, k->n, LEVEL);
    if (ZSTD_isError(n))
        abort(); /* there is room for everything */
    bool raw = n >= k->n;
    struct chunk c = {.n = raw ? k->n : n, .raw = k->n};
    c.at = dh_xmemdup(raw ? k->now : k->packed, c.n);
    return c;
}

static void end_chunk(struct dh_event_buffer *k)
{
    bool raw = k->bytes < k->raw_most;
    struct chunk c = raw ? (struct chunk){k->now, k->n, k->n} : packed_chunk(k);
    if (raw)
        k->now = new_chunk();
    dh_vec_push(&k->chunks, c);
    k->bytes += c.n;
    k->n = 0;
}

static unsigned row_of(const struct dh_event *e)
{
    uint64_t key = (uint64_t)e->site << 32 | e->thread << 8 | e->kind;
    return (unsigned)(dh_hash_multiply(key) >> 50);
}

/* Equal but for its address, and its seq is the expected one. */
static bool is_alike(const struct dh_event_buffer *k, const struct dh_event *row, const struct dh_event *e)
{
    return row->site == e->site && row->thread == e->thread && row->ctx == e->ctx && row->arg == e->arg &&
           row->kind == e->kind && row->flags == e->flags && e->seq == (row->seq ? k->seq + 1 : 0);
}

static void put(struct dh_event_buffer *k, const void *bytes, size_t n)
{
    memcpy(k->now + k->n, bytes, n);
    k->n += n;
}

/* Bytes of them. */
static const uint8_t distances[] = {[SHORT] = 2, [NEAR] = 4};

static void put_head(struct dh_event_buffer *k, unsigned row, enum mode mode)
{
    uint16_t head = (uint16_t)(row | (unsigned)mode << MODE_SHIFT);
    put(k, &head, sizeof head);
}

void dh_event_buffer_add(struct dh_event_buffer *k, const struct dh_event *e)
{
    unsigned i = row_of(e);
    struct dh_event *row = &k->rows[i];
    int64_t way = (int64_t)(e->addr - row->addr);
    if (!is_alike(k, row, e) || way != (int32_t)way) {
        put_head(k, i, OTHER);
        put(k, e, sizeof *e);
        *row = *e;
    } else {
        enum mode mode = !way ? SAME : way == (int16_t)way ? SHORT : NEAR;
        put_head(k, i, mode);
        put(k, &way, distances[mode]); /* little-endian */
        row->addr = e->addr;
    }
    k->seq = e->seq ? e->seq : k->seq;
    if (k->n > CHUNK - RECORD_MOST)
        end_chunk(k);
}

/* ---- reading ---- */

static void get(const unsigned char **at, void *bytes, size_t n)
{
    memcpy(bytes, *at, n);
    *at += n;
}

static void read_one(struct dh_event_buffer *k, const unsigned char **at, struct dh_event *e)
{
    uint16_t head;
    int16_t near;
    int32_t far;
    get(at, &head, sizeof head);
    struct dh_event *row = &k->rows[head & (ROWS - 1)];
    switch (head >> MODE_SHIFT) {
    case SAME:
        break;
    case SHORT:
        get(at, &near, sizeof near);
        row->addr += (uint64_t)near;
        break;
    case NEAR:
        get(at, &far, sizeof far);
        row->addr += (uint64_t)far;
        break;
    default:
        get(at, row, sizeof *row);
    }
    *e = *row;
    if (head >> MODE_SHIFT != OTHER && row->seq)
        e->seq = k->seq + 1;
    k->seq = e->seq ? e->seq : k->seq;
}

void dh_event_buffer_replay(struct dh_event_buffer *k, void (*event)(void *arg, const struct dh_event *e), void *arg)
{
    if (k->n)
        end_chunk(k);
    memset(k->rows, 0, sizeof k->rows);
    k->seq = 0;
    for (size_t i = 0; i < k->chunks.n; i++) {
        const struct chunk *c = &k->chunks.at[i];
        const unsigned char *raw = c->n == c->raw ? c->at : k->now;
        if (raw == k->now && ZSTD_decompress(k->now, CHUNK, c->at, c->n) != c->raw)
            abort(); /* it never left our memory */
        for (const unsigned char *at = raw; at < raw + c->raw;) {
            struct dh_event e;
            read_one(k, &at, &e);
            event(arg, &e);
        }
    }
}
