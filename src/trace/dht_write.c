/* Writes .dht files: events into a block, full blocks packed into chunks, the index at the end. */
#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "trace/dht.h"
#include "trace/dht_block.h"
#include "trace/dht_format.h"
#include "trace/dht_meta.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

enum { LEVEL = 3, STEPS = 8, FIRST_SHARE = 1 << 16, META_MOST = 1 << 20, BOUND_BLOCKS = 32, LEAST_BLOCK = 1024 };

struct dh_dht {
    char *path;
    int fd;
    struct dh_dht_options options;
    struct dh_block_writer *block;
    struct dh_meta_written written;
    DH_VEC(struct dh_dht_index_entry) index;
    struct dh_dht_index_entry next;  /* of the block that is not written yet */
    struct dh_str raw, packed, meta; /* meta: to be written before the next block */
    ZSTD_CCtx *zstd;
    struct dh_dht_counts counts;
    struct dh_u64_map recorded; /* accesses of each place and thread */
    bool full;                  /* nothing more fits */
    struct dh_err failed;
};

/* ---- bytes ---- */

static bool put(struct dh_dht *w, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n && !w->failed.text) {
        ssize_t k = write(w->fd, at, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return dh_err_errno(&w->failed, "cannot write %s", w->path);
        at += k;
        n -= (size_t)k;
        w->counts.bytes += (uint64_t)k;
    }
    return !w->failed.text;
}

/* Header and bytes in one write: a reader of what a killed recorder left sees all of it or a short end. */
static bool put_chunk(struct dh_dht *w, enum dh_dht_chunk_kind kind, const struct dh_str *raw, uint32_t count)
{
    size_t bound = ZSTD_compressBound(raw->n);
    struct dh_dht_chunk c = {.kind = kind, .raw = (uint32_t)raw->n, .count = count};
    dh_str_clear(&w->packed);
    while (w->packed.cap < bound + sizeof c)
        w->packed.at = dh_vec_grow(w->packed.at, &w->packed.cap, bound + sizeof c, 1);
    size_t n = ZSTD_compressCCtx(w->zstd, w->packed.at + sizeof c, bound, raw->at, raw->n, LEVEL);
    if (ZSTD_isError(n))
        return dh_err_set(&w->failed, "cannot compress for %s: %s", w->path, ZSTD_getErrorName(n));
    c.stored = (uint32_t)n;
    memcpy(w->packed.at, &c, DH_DHT_HASHED);
    /* The hash lies between the parts that it covers, so it is filled in last. */
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, &c, DH_DHT_HASHED);
    XXH3_64bits_update(state, w->packed.at + sizeof c, n);
    c.hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    memcpy(w->packed.at, &c, sizeof c);
    return put(w, w->packed.at, sizeof c + n);
}

static bool put_meta(struct dh_dht *w)
{
    bool ok = !w->failed.text && (!w->meta.n || put_chunk(w, DH_DHT_META, &w->meta, 0));
    dh_str_clear(&w->meta);
    return ok;
}

static bool put_block(struct dh_dht *w)
{
    size_t n = dh_block_count(w->block);
    if (!put_meta(w) || !n)
        return !w->failed.text;
    dh_str_clear(&w->raw);
    dh_block_finish(w->block, &w->raw);
    w->next.offset = w->counts.bytes;
    w->next.events = (uint32_t)n;
    dh_vec_push(&w->index, w->next);
    w->next = (struct dh_dht_index_entry){0};
    return put_chunk(w, DH_DHT_EVENTS, &w->raw, (uint32_t)n);
}

/* ---- limits ---- */

/* So many accesses of one place and thread are recorded. Under a bound of the size a place's share shrinks as the half
 * of the file that accesses may fill does fill, so that what comes late has room as well. */
static uint32_t share(const struct dh_dht *w)
{
    uint32_t limit = w->options.per_site_limit ? w->options.per_site_limit : UINT32_MAX;
    uint64_t most = w->options.max_size / 2, left = w->counts.bytes < most ? most - w->counts.bytes : 0;
    if (!most || left > most / 2)
        return limit;
    uint64_t steps = left ? (uint64_t)__builtin_clzll(left) - (uint64_t)__builtin_clzll(most) : 64;
    uint32_t shrunk = steps <= STEPS ? FIRST_SHARE >> 2 * (steps - 1) : 0;
    return shrunk < limit ? shrunk : limit;
}

static bool is_left_out(struct dh_dht *w, const struct dh_event *e)
{
    if (!dh_event_is_access(e) || (!w->options.per_site_limit && !w->options.max_size))
        return false;
    uint32_t limit = share(w);
    if (limit == UINT32_MAX && !w->options.max_size)
        return false;
    uint64_t *n = dh_u64_map_at(&w->recorded, (uint64_t)e->thread << 32 | e->site);
    if (*n >= limit)
        return true;
    ++*n;
    return false;
}

/* ---- the writer ---- */

struct dh_dht *dh_dht_create(const char *path, const struct dh_meta *meta, const struct dh_dht_options *options,
                             struct dh_err *err)
{
    static const struct dh_meta nothing;
    struct dh_dht_header h = {.magic = DH_DHT_MAGIC, .version = DH_DHT_VERSION, .endianness = DH_DHT_ENDIANNESS};
    struct dh_dht *w = DH_NEW(struct dh_dht);
    w->path = dh_strdup(path);
    w->block = dh_block_writer_new();
    w->zstd = ZSTD_createCCtx();
    if (options)
        w->options = *options;
    w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (w->fd < 0)
        dh_err_errno(&w->failed, "cannot write %s", path);
    if (!w->failed.text && put(w, &h, sizeof h) && dh_dht_meta(w, meta ? meta : &nothing) && put_meta(w))
        return w;
    dh_dht_close(w, err);
    return NULL;
}

/* Only what is written counts against the bound, so that blocks are small where that is. */
static size_t block_events(const struct dh_dht *w)
{
    uint64_t part = w->options.max_size / BOUND_BLOCKS;
    if (!w->options.max_size || part > DH_DHT_BLOCK_EVENTS)
        return DH_DHT_BLOCK_EVENTS;
    return part > LEAST_BLOCK ? (size_t)part : LEAST_BLOCK;
}

bool dh_dht_add(struct dh_dht *w, const struct dh_event *e)
{
    if (w->failed.text || w->full)
        return !w->failed.text;
    if (is_left_out(w, e)) {
        w->counts.left_out++;
        return true;
    }
    dh_block_add(w->block, e);
    if (e->seq && !w->next.first_seq)
        w->next.first_seq = e->seq;
    w->next.accesses += dh_event_is_access(e);
    w->counts.accesses += dh_event_is_access(e);
    w->counts.events++;
    if (dh_block_count(w->block) < block_events(w))
        return true;
    bool ok = put_block(w);
    /* The beginning of a stream can be analysed; a stream with holes in its synchronisation cannot. */
    w->full = w->options.max_size && w->counts.bytes > w->options.max_size - w->options.max_size / 16;
    return ok;
}

bool dh_dht_meta(struct dh_dht *w, const struct dh_meta *meta)
{
    dh_meta_write(&w->written, meta, &w->meta);
    return w->meta.n < META_MOST ? !w->failed.text : put_meta(w);
}

bool dh_dht_flush(struct dh_dht *w)
{
    return put_block(w);
}

void dh_dht_counts(const struct dh_dht *w, struct dh_dht_counts *out)
{
    *out = w->counts;
}

bool dh_dht_is_full(const struct dh_dht *w)
{
    return w->full;
}

static bool put_index(struct dh_dht *w)
{
    struct dh_dht_trailer t = {.index = w->counts.bytes, .magic = DH_DHT_TRAILER_MAGIC};
    dh_str_clear(&w->raw);
    dh_str_add_n(&w->raw, "", 0);
    if (w->index.n)
        dh_str_add_n(&w->raw, (const char *)w->index.at, w->index.n * sizeof *w->index.at);
    return put_chunk(w, DH_DHT_INDEX, &w->raw, (uint32_t)w->index.n) && put(w, &t, sizeof t);
}

bool dh_dht_close(struct dh_dht *w, struct dh_err *err)
{
    if (!w->failed.text && put_block(w))
        put_index(w);
    if (w->fd >= 0 && close(w->fd) != 0 && !w->failed.text)
        dh_err_errno(&w->failed, "cannot write %s", w->path);
    bool ok = !w->failed.text;
    if (!ok)
        dh_err_set(err, "%s", w->failed.text);
    dh_err_release(&w->failed);
    dh_block_writer_free(w->block);
    dh_meta_written_release(&w->written);
    dh_vec_release(&w->index);
    dh_str_release(&w->raw);
    dh_str_release(&w->packed);
    dh_str_release(&w->meta);
    ZSTD_freeCCtx(w->zstd);
    dh_u64_map_release(&w->recorded);
    free(w->path);
    free(w);
    return ok;
}
