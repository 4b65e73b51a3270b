#include "trace/dht_meta.h"

#include "detect/run_state.h"
#include "trace/dht_block.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- writing ---- */

/* NULL is 0, a text of n bytes n + 1. */
static void add_text(struct dh_str *out, const char *text)
{
    dh_varint_add(out, text ? strlen(text) + 1 : 0);
    if (text)
        dh_str_add(out, text);
}

static void add_fixed(struct dh_str *out, const struct dh_meta *m)
{
    dh_varint_add(out, m->pid);
    dh_varint_add(out, m->started);
    add_text(out, m->program);
    add_text(out, m->original);
    add_text(out, m->variant);
}

static void add_module(struct dh_str *out, const struct dh_meta *m, size_t i)
{
    const struct dh_meta_module *row = &m->modules.at[i];
    add_text(out, row->path);
    dh_str_add_n(out, (const char *)row->id, sizeof row->id);
    dh_varint_add(out, row->load);
    dh_varint_add(out, row->low);
    dh_varint_add(out, row->high);
    dh_varint_add(out, row->first_place);
}

static void add_thread(struct dh_str *out, const struct dh_meta *m, size_t i)
{
    const struct dh_meta_thread *row = &m->threads.at[i];
    dh_varint_add(out, row->parent);
    dh_varint_add(out, row->ctx);
    add_text(out, row->name);
}

typedef DH_VEC(uint64_t) hashes;

/* Rows that are new or another than before: how many, then index and row of each. */
static bool add_changed(struct dh_str *out, const struct dh_meta *m, size_t n, void *written,
                        void (*add)(struct dh_str *, const struct dh_meta *, size_t))
{
    hashes *old = written;
    struct dh_str rows = {0}, row = {0};
    size_t changed = 0;
    for (size_t i = 0; i < n; i++) {
        dh_str_clear(&row);
        add(&row, m, i);
        uint64_t hash = XXH3_64bits(row.at, row.n);
        if (i < old->n && old->at[i] == hash)
            continue;
        if (i == old->n)
            dh_vec_push(old, hash);
        old->at[i] = hash;
        dh_varint_add(&rows, i);
        dh_str_add_n(&rows, row.at, row.n);
        changed++;
    }
    dh_varint_add(out, changed);
    if (changed)
        dh_str_add_n(out, rows.at, rows.n);
    dh_str_release(&rows);
    dh_str_release(&row);
    return changed;
}

static bool add_contexts(struct dh_str *out, const struct dh_meta *m, size_t *written)
{
    size_t first = *written < m->contexts.n ? *written : m->contexts.n;
    dh_varint_add(out, m->contexts.n - first);
    for (size_t i = first; i < m->contexts.n; i++) {
        dh_varint_add(out, m->contexts.at[i].parent);
        dh_varint_add(out, m->contexts.at[i].return_address);
    }
    *written = m->contexts.n;
    return first < m->contexts.n;
}

static bool add_places(struct dh_str *out, const struct dh_meta *m, size_t *written)
{
    size_t first = *written < m->places.n ? *written : m->places.n;
    dh_varint_add(out, m->places.n - first);
    for (size_t i = first; i < m->places.n; i++) {
        const struct dh_meta_place *p = &m->places.at[i];
        dh_varint_add(out, p->op);
        dh_varint_add(out, p->line);
        add_text(out, p->file);
        add_text(out, p->function);
        add_text(out, p->variable);
    }
    *written = m->places.n;
    return first < m->places.n;
}

bool dh_meta_write(struct dh_meta_written *w, const struct dh_meta *m, struct dh_str *out)
{
    struct dh_str fixed = {0};
    size_t before = out->n;
    add_fixed(&fixed, m);
    uint64_t hash = XXH3_64bits(fixed.at, fixed.n);
    bool news = hash != w->fixed;
    w->fixed = hash;
    dh_str_add_n(out, fixed.at, fixed.n);
    dh_str_release(&fixed);
    news |= add_changed(out, m, m->modules.n, &w->modules, add_module);
    news |= add_changed(out, m, m->threads.n, &w->threads, add_thread);
    news |= add_contexts(out, m, &w->n_contexts);
    news |= add_places(out, m, &w->n_places);
    if (!news)
        out->n = before;
    return news;
}

void dh_meta_written_release(struct dh_meta_written *w)
{
    dh_vec_release(&w->modules);
    dh_vec_release(&w->threads);
}

/* ---- reading ---- */

static bool take_bytes(struct dh_varints *v, void *to, size_t n)
{
    if ((size_t)(v->end - v->at) < n)
        return !(v->bad = true);
    memcpy(to, v->at, n);
    v->at += n;
    return true;
}

/* Replaces *to. */
static void take_text(struct dh_varints *v, char **to)
{
    uint64_t n = dh_varint_next(v);
    free(*to);
    *to = NULL;
    if (!n)
        return;
    if (--n > (size_t)(v->end - v->at)) {
        v->bad = true;
        return;
    }
    struct dh_str s = {0};
    dh_str_add_n(&s, (const char *)v->at, n);
    v->at += n;
    *to = dh_str_take(&s);
}

/* As take_text, for what is never NULL. */
static void take_name(struct dh_varints *v, char **to)
{
    take_text(v, to);
    if (!*to)
        *to = dh_strdup("");
}

static uint32_t take_u32(struct dh_varints *v)
{
    uint64_t value = dh_varint_next(v);
    v->bad |= value > UINT32_MAX;
    return (uint32_t)value;
}

static void take_modules(struct dh_varints *v, struct dh_meta *m)
{
    for (uint64_t n = dh_varint_next(v); n-- && !v->bad;) {
        uint64_t i = dh_varint_next(v);
        if (i > m->modules.n) {
            v->bad = true;
            return;
        }
        if (i == m->modules.n)
            dh_vec_push(&m->modules, (struct dh_meta_module){0});
        struct dh_meta_module *row = &m->modules.at[i];
        take_name(v, &row->path);
        take_bytes(v, row->id, sizeof row->id);
        row->load = dh_varint_next(v);
        row->low = dh_varint_next(v);
        row->high = dh_varint_next(v);
        row->first_place = take_u32(v);
    }
}

static void take_threads(struct dh_varints *v, struct dh_meta *m)
{
    for (uint64_t n = dh_varint_next(v); n-- && !v->bad;) {
        uint64_t i = dh_varint_next(v);
        if (i > m->threads.n || i >= DH_RUN_THREADS_MAX) {
            v->bad = true;
            return;
        }
        if (i == m->threads.n)
            dh_vec_push(&m->threads, (struct dh_meta_thread){0});
        struct dh_meta_thread *row = &m->threads.at[i];
        row->parent = take_u32(v);
        row->ctx = take_u32(v);
        take_text(v, &row->name);
    }
}

/* 0 is the empty stack; every other stands on one before it, so that walking up ends. */
static void take_contexts(struct dh_varints *v, struct dh_meta *m)
{
    for (uint64_t n = dh_varint_next(v); n-- && !v->bad;) {
        struct dh_meta_context row = {.parent = take_u32(v)};
        row.return_address = dh_varint_next(v);
        if (m->contexts.n && row.parent >= m->contexts.n)
            v->bad = true;
        else if (!v->bad)
            dh_vec_push(&m->contexts, row);
    }
}

static void take_places(struct dh_varints *v, struct dh_meta *m)
{
    for (uint64_t n = dh_varint_next(v); n-- && !v->bad;) {
        struct dh_meta_place row = {.op = (uint8_t)dh_varint_next(v)};
        row.line = take_u32(v);
        take_name(v, &row.file);
        take_name(v, &row.function);
        take_name(v, &row.variable);
        dh_vec_push(&m->places, row);
    }
}

static void take_record(struct dh_varints *v, struct dh_meta *m)
{
    m->pid = take_u32(v);
    m->started = dh_varint_next(v);
    take_text(v, &m->program);
    take_text(v, &m->original);
    take_text(v, &m->variant);
    take_modules(v, m);
    take_threads(v, m);
    take_contexts(v, m);
    take_places(v, m);
}

bool dh_meta_read(struct dh_meta *m, const void *bytes, size_t n)
{
    struct dh_varints v = {.at = bytes, .end = (const uint8_t *)bytes + n};
    while (v.at < v.end && !v.bad)
        take_record(&v, m);
    return !v.bad;
}
