#include "trace/source.h"

#include "host/file.h"

#include <stdlib.h>

struct dh_source {
    struct dh_bytes bytes;
    struct dh_text *text;
    struct dh_meta meta;
};

struct dh_source *dh_source_open(const char *path, struct dh_err *err)
{
    struct dh_source *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    if (dh_file_read(path, &s->bytes, err))
        s->text = dh_text_new(path, (const char *)s->bytes.at, s->bytes.n, err);
    if (s->text)
        return s;
    dh_source_close(s);
    return NULL;
}

enum dh_source_answer dh_source_next(struct dh_source *s, struct dh_event *e, struct dh_err *err)
{
    (void)err;
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
    (void)s;
    return false;
}

void dh_source_progress(const struct dh_source *s, uint64_t *at, uint64_t *of)
{
    size_t here, all;
    dh_text_progress(s->text, &here, &all);
    *at = here;
    *of = all;
}

void dh_source_close(struct dh_source *s)
{
    if (!s)
        return;
    dh_text_free(s->text);
    dh_bytes_release(&s->bytes);
    dh_meta_release(&s->meta);
    free(s);
}
