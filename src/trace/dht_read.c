/* Reads .dht files: chunk by chunk, each checked before its events are handed out; totals from the index. */
#include "base/alloc.h"
#include "base/str.h"
#include "trace/dht.h"
#include "trace/dht_block.h"
#include "trace/dht_format.h"
#include "trace/dht_meta.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

struct dh_dht_reader {
    char *path;
    int fd;
    uint64_t at, size; /* size: 0 when it is no regular file */
    struct dh_meta *meta;
    struct dh_block_reader *block;
    struct dh_str stored, raw;
    uint64_t begun;  /* offset of the chunk that is read */
    uint32_t blocks; /* chunks of events so far */
    bool cut, ended;
    struct dh_dht_counts totals;
};

static bool damaged(const struct dh_dht_reader *r, uint64_t at, const char *what, struct dh_err *err)
{
    return dh_err_set(err, "%s: damaged trace at offset %llu: %s", r->path, (unsigned long long)at, what);
}

/* As many bytes as there are, up to n. */
static size_t get(struct dh_dht_reader *r, void *to, size_t n, struct dh_err *err)
{
    size_t have = 0;
    while (have < n) {
        ssize_t k = read(r->fd, (char *)to + have, n - have);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            dh_err_errno(err, "cannot read %s", r->path);
        if (k <= 0)
            break;
        have += (size_t)k;
    }
    r->at += have;
    return have;
}

bool dh_dht_is_one(const void *bytes, size_t n)
{
    return n >= 8 && memcmp(bytes, DH_DHT_MAGIC, 8) == 0;
}

static bool read_header(struct dh_dht_reader *r, struct dh_err *err)
{
    struct dh_dht_header h;
    if (get(r, &h, sizeof h, err) < sizeof h)
        return err->text ? false : damaged(r, r->at, "the header is cut short", err);
    if (!dh_dht_is_one(h.magic, sizeof h.magic))
        return dh_err_set(err, "%s: not a trace: expected " DH_DHT_MAGIC " at offset 0", r->path);
    if (h.endianness != DH_DHT_ENDIANNESS)
        return dh_err_set(err, "%s: a trace of a machine with another byte order, at offset 12", r->path);
    if (h.version != DH_DHT_VERSION)
        return dh_err_set(err, "%s: a trace of version %u at offset 8; this tool reads version %u", r->path, h.version,
                          DH_DHT_VERSION);
    return true;
}

void dh_dht_reader_free(struct dh_dht_reader *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    dh_block_reader_free(r->block);
    dh_str_release(&r->stored);
    dh_str_release(&r->raw);
    free(r->path);
    free(r);
}

/* ---- chunks ---- */

static void make_room(struct dh_str *s, size_t n)
{
    dh_str_clear(s);
    if (s->cap < n + 1)
        s->at = dh_vec_grow(s->at, &s->cap, n + 1, 1);
}

static bool is_sane(const struct dh_dht_chunk *c)
{
    return c->kind >= DH_DHT_META && c->kind <= DH_DHT_INDEX && c->raw <= DH_DHT_RAW_MOST &&
           c->stored <= ZSTD_compressBound(DH_DHT_RAW_MOST) && c->count <= DH_DHT_RAW_MOST;
}

static uint64_t hash_of(const struct dh_dht_chunk *c, const char *stored)
{
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, c, DH_DHT_HASHED);
    XXH3_64bits_update(state, stored, c->stored);
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}

/* What a chunk says, into r->raw. False at the end, and when it is damaged. */
static bool read_chunk(struct dh_dht_reader *r, struct dh_dht_chunk *c, struct dh_err *err)
{
    r->begun = r->at;
    size_t n = get(r, c, sizeof *c, err);
    if (n < sizeof *c) {
        r->cut = !err->text;
        return false;
    }
    if (!is_sane(c))
        return damaged(r, r->begun, "expected a chunk of metadata, events or the index", err);
    make_room(&r->stored, c->stored);
    if (get(r, r->stored.at, c->stored, err) < c->stored) {
        r->cut = !err->text;
        return false;
    }
    if (hash_of(c, r->stored.at) != c->hash)
        return damaged(r, r->begun, "the chunk is not what was written (its hash differs)", err);
    make_room(&r->raw, c->raw);
    size_t raw = ZSTD_decompress(r->raw.at, c->raw, r->stored.at, c->stored);
    if (ZSTD_isError(raw) || raw != c->raw)
        return damaged(r, r->begun, "the chunk cannot be decompressed", err);
    r->raw.n = raw;
    return true;
}

static bool take_index(struct dh_dht_reader *r, const struct dh_dht_chunk *c, struct dh_err *err)
{
    struct dh_dht_trailer t;
    if (c->count != r->blocks || c->raw != c->count * sizeof(struct dh_dht_index_entry))
        return damaged(r, r->begun, "the index is not of this file", err);
    if (get(r, &t, sizeof t, err) < sizeof t) {
        r->cut = !err->text;
        return !err->text;
    }
    if (memcmp(t.magic, DH_DHT_TRAILER_MAGIC, sizeof t.magic) != 0 || t.index != r->begun)
        return damaged(r, r->at - sizeof t, "expected the trailer", err);
    char more;
    if (get(r, &more, 1, err))
        return damaged(r, r->at - 1, "expected the end of the file", err);
    return !err->text;
}

static bool take_chunk(struct dh_dht_reader *r, const struct dh_dht_chunk *c, struct dh_err *err)
{
    if (c->kind == DH_DHT_INDEX) {
        r->ended = true;
        return take_index(r, c, err);
    }
    if (c->kind == DH_DHT_META)
        return dh_meta_read(r->meta, r->raw.at, r->raw.n) || damaged(r, r->begun, "the metadata makes no sense", err);
    r->blocks++;
    return dh_block_begin(r->block, r->raw.at, r->raw.n, c->count) ||
           damaged(r, r->begun, "the block makes no sense", err);
}

enum dh_dht_answer dh_dht_next(struct dh_dht_reader *r, struct dh_event *e, struct dh_err *err)
{
    while (!dh_block_next(r->block, e)) {
        struct dh_dht_chunk c;
        if (dh_block_is_bad(r->block)) {
            damaged(r, r->begun, "an event of the block makes no sense", err);
            return DH_DHT_ERROR;
        }
        if (r->ended || r->cut)
            return DH_DHT_END;
        if (!read_chunk(r, &c, err)) {
            if (!r->cut)
                return DH_DHT_ERROR;
        } else if (!take_chunk(r, &c, err)) {
            return DH_DHT_ERROR;
        }
    }
    return DH_DHT_EVENT;
}

bool dh_dht_is_cut(const struct dh_dht_reader *r)
{
    return r->cut;
}

void dh_dht_progress(const struct dh_dht_reader *r, uint64_t *at, uint64_t *of)
{
    *at = r->at;
    *of = r->size;
}

/* ---- without reading it all ---- */

static bool totals_from_index(struct dh_dht_reader *r, struct dh_dht_counts *out)
{
    struct dh_dht_trailer t;
    struct dh_err ignored = {0};
    struct dh_dht_chunk c;
    if (r->size < sizeof t || pread(r->fd, &t, sizeof t, (off_t)(r->size - sizeof t)) != (ssize_t)sizeof t ||
        memcmp(t.magic, DH_DHT_TRAILER_MAGIC, sizeof t.magic) != 0 || t.index >= r->size)
        return false;
    r->at = t.index;
    bool ok = lseek(r->fd, (off_t)t.index, SEEK_SET) >= 0 && read_chunk(r, &c, &ignored) && c.kind == DH_DHT_INDEX &&
              c.raw == c.count * sizeof(struct dh_dht_index_entry);
    for (size_t i = 0; ok && i < c.count; i++) {
        struct dh_dht_index_entry entry;
        memcpy(&entry, r->raw.at + i * sizeof entry, sizeof entry);
        out->events += entry.events;
        out->accesses += entry.accesses;
    }
    dh_err_release(&ignored);
    return ok;
}

/* Headers alone do not tell accesses from other events. */
static void totals_from_chunks(struct dh_dht_reader *r, struct dh_dht_counts *out)
{
    struct dh_dht_chunk c;
    uint64_t at = sizeof(struct dh_dht_header);
    while (pread(r->fd, &c, sizeof c, (off_t)at) == (ssize_t)sizeof c && is_sane(&c)) {
        at += sizeof c + c.stored;
        if (at > r->size)
            break;
        if (c.kind == DH_DHT_EVENTS)
            out->events += c.count;
    }
}

static void find_totals(struct dh_dht_reader *r)
{
    uint64_t at = r->at;
    r->totals.bytes = r->size;
    if (!r->size)
        return;
    if (!totals_from_index(r, &r->totals))
        totals_from_chunks(r, &r->totals);
    r->cut = false;
    r->at = at;
    lseek(r->fd, (off_t)at, SEEK_SET);
}

void dh_dht_totals(const struct dh_dht_reader *r, struct dh_dht_counts *out)
{
    *out = r->totals;
}

/* ---- opening ---- */

/* What is known of the program comes first. */
static bool read_first(struct dh_dht_reader *r, struct dh_err *err)
{
    struct dh_dht_chunk c;
    if (!read_chunk(r, &c, err))
        return r->cut;
    return take_chunk(r, &c, err);
}

struct dh_dht_reader *dh_dht_open(const char *path, struct dh_meta *meta, struct dh_err *err)
{
    struct dh_dht_reader *r = DH_NEW(struct dh_dht_reader);
    struct stat s;
    r->path = dh_strdup(path);
    r->meta = meta;
    r->block = dh_block_reader_new();
    r->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0)
        dh_err_errno(err, "cannot read %s", path);
    else if (fstat(r->fd, &s) == 0 && S_ISREG(s.st_mode))
        r->size = (uint64_t)s.st_size;
    bool ok = r->fd >= 0 && read_header(r, err);
    if (ok)
        find_totals(r);
    if (ok && read_first(r, err))
        return r;
    dh_dht_reader_free(r);
    return NULL;
}
