#include "trace/source.h"
#include "base/alloc.h"

#include "host/file.h"
#include "trace/dht.h"
#include "trace/import_std.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dh_source {
    char *path;
    struct dh_bytes bytes;
    struct dh_text *text;
    struct dh_dht_reader *dht;
    FILE *file;
    uint64_t size;
    struct dh_std *std;
    struct dh_meta meta;
    char *cut;
};

enum { FIRST = 4096 };

static bool open_text(struct dh_source *s, struct dh_err *err)
{
    if (!dh_file_read(s->path, &s->bytes, err))
        return false;
    const uint8_t *zero = s->bytes.n ? memchr(s->bytes.at, 0, s->bytes.n) : NULL;
    if (zero)
        return dh_err_set(err, "%s: not a trace: expected DHTRACE1 at offset 0, or text, but there is a zero at %zu",
                          s->path, (size_t)(zero - s->bytes.at));
    s->text = dh_text_new(s->path, (const char *)s->bytes.at, s->bytes.n, err);
    return s->text;
}

static bool open_dht(struct dh_source *s, struct dh_err *err)
{
    s->dht = dh_dht_open(s->path, &s->meta, err);
    return s->dht;
}

static bool open_std(struct dh_source *s, struct dh_err *err)
{
    s->file = fopen(s->path, "re");
    if (!s->file)
        return dh_err_errno(err, "cannot read %s", s->path);
    s->size = dh_file_size(s->path);
    s->std = dh_std_new(s->file, s->path, &s->meta);
    return true;
}

/* The first bytes determine the format; errors are left to the reader of the format. */
static bool open_any(struct dh_source *s, struct dh_err *err)
{
    char first[FIRST];
    int fd = open(s->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, first, sizeof first) : 0;
    if (fd >= 0)
        close(fd);
    if (n > 0 && dh_dht_is_one(first, (size_t)n))
        return open_dht(s, err);
    if (n > 0 && dh_std_is_one(first, (size_t)n))
        return open_std(s, err);
    return open_text(s, err);
}

struct dh_source *dh_source_open(const char *path, struct dh_err *err)
{
    struct dh_source *s = DH_NEW(struct dh_source);
    s->path = dh_strdup(path);
    if (open_any(s, err))
        return s;
    dh_source_close(s);
    return NULL;
}

enum dh_source_answer dh_source_next(struct dh_source *s, struct dh_event *e, struct dh_err *err)
{
    static const enum dh_source_answer answers[] = {
        [DH_DHT_EVENT] = DH_SOURCE_EVENT, [DH_DHT_END] = DH_SOURCE_END, [DH_DHT_ERROR] = DH_SOURCE_ERROR};
    static const enum dh_source_answer of_std[] = {
        [DH_STD_EVENT] = DH_SOURCE_EVENT, [DH_STD_END] = DH_SOURCE_END, [DH_STD_ERROR] = DH_SOURCE_ERROR};
    if (s->dht)
        return answers[dh_dht_next(s->dht, e, err)];
    if (s->std)
        return of_std[dh_std_next(s->std, e, err)];
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

const char *dh_source_cut_text(struct dh_source *s)
{
    uint64_t at, of;
    dh_source_progress(s, &at, &of);
    free(s->cut);
    s->cut = dh_format("%s: cut short at offset %llu, where the next block or the index was expected", s->path,
                       (unsigned long long)at);
    return s->cut;
}

void dh_source_progress(const struct dh_source *s, uint64_t *at, uint64_t *of)
{
    size_t here, all;
    if (s->dht) {
        dh_dht_progress(s->dht, at, of);
    } else if (s->std) {
        *at = dh_std_progress(s->std);
        *of = s->size;
    } else {
        dh_text_progress(s->text, &here, &all);
        *at = here;
        *of = all;
    }
}

void dh_source_close(struct dh_source *s)
{
    if (!s)
        return;
    dh_text_free(s->text);
    dh_dht_reader_free(s->dht);
    dh_std_free(s->std);
    if (s->file)
        fclose(s->file);
    dh_bytes_release(&s->bytes);
    dh_meta_release(&s->meta);
    free(s->cut);
    free(s->path);
    free(s);
}
