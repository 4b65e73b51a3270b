#include "trace/source.h"

#include "host/file.h"
#include "trace/dht.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dh_source {
    struct dh_bytes bytes;
    struct dh_text *text;
    struct dh_dht_reader *dht;
    struct dh_meta meta;
};

/* By the first bytes; a file that cannot be read is told of later. */
static bool is_dht(const char *path)
{
    char first[8] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, first, sizeof first) : 0;
    if (fd >= 0)
        close(fd);
    return dh_dht_is_one(first, n > 0 ? (size_t)n : 0);
}

static bool open_text(struct dh_source *s, const char *path, struct dh_err *err)
{
    if (!dh_file_read(path, &s->bytes, err))
        return false;
    const char *zero = s->bytes.n ? memchr(s->bytes.at, 0, s->bytes.n) : NULL;
    if (zero)
        return dh_err_set(err,
                          "%s: not a trace: expected DHTRACE1 at offset 0, or text, which has no zero as at offset "
                          "%zu",
                          path, (size_t)((const uint8_t *)zero - s->bytes.at));
    s->text = dh_text_new(path, (const char *)s->bytes.at, s->bytes.n, err);
    return s->text;
}

static bool open_dht(struct dh_source *s, const char *path, struct dh_err *err)
{
    s->dht = dh_dht_open(path, &s->meta, err);
    return s->dht;
}

struct dh_source *dh_source_open(const char *path, struct dh_err *err)
{
    struct dh_source *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    if (is_dht(path) ? open_dht(s, path, err) : open_text(s, path, err))
        return s;
    dh_source_close(s);
    return NULL;
}

enum dh_source_answer dh_source_next(struct dh_source *s, struct dh_event *e, struct dh_err *err)
{
    static const enum dh_source_answer answers[] = {
        [DH_DHT_EVENT] = DH_SOURCE_EVENT, [DH_DHT_END] = DH_SOURCE_END, [DH_DHT_ERROR] = DH_SOURCE_ERROR};
    if (s->dht)
        return answers[dh_dht_next(s->dht, e, err)];
    return dh_text_next(s->text, e) ? DH_SOURCE_EVENT : DH_SOURCE_END;
}

const struct dh_meta *dh_source_meta(const struct dh_source *s)
{
    return s->text ? NULL : &s->meta;
}

struct dh_text *dh_source_text(struct dh_source *s)
{
    return s->text;
}

bool dh_source_is_cut(const struct dh_source *s)
{
    return s->dht && dh_dht_is_cut(s->dht);
}

void dh_source_progress(const struct dh_source *s, uint64_t *at, uint64_t *of)
{
    size_t here, all;
    if (s->dht) {
        dh_dht_progress(s->dht, at, of);
        return;
    }
    dh_text_progress(s->text, &here, &all);
    *at = here;
    *of = all;
}

void dh_source_close(struct dh_source *s)
{
    if (!s)
        return;
    dh_text_free(s->text);
    dh_dht_reader_free(s->dht);
    dh_bytes_release(&s->bytes);
    dh_meta_release(&s->meta);
    free(s);
}
