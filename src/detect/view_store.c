#include "detect/view_store.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_VIEWS = 4096, /* of one lock */
    MOST_ALIKE = 64    /* of one code and thread with the same names: instances of one kind behave alike */
};

/* ---- code ---- */

static void add_name(struct dh_view_code *c, uint32_t name)
{
    for (size_t i = 0; i < c->names.n; i++)
        if (c->names.at[i] == name)
            return;
    dh_vec_push(&c->names, name);
}

static void add_what_paths_may(struct dh_view_store *s, struct dh_view_code *c)
{
    for (int write = 0; write < 2; write++) {
        size_t n;
        const char *const *names = dh_run_may_access(s->run, c->site, write, &n);
        for (size_t i = 0; names && i < n; i++)
            add_name(c, dh_field_names_number(&s->names, names[i]));
    }
}

static size_t code_of(struct dh_view_store *s, uint32_t site, uint32_t ctx)
{
    uint64_t *number = dh_u64_map_at(&s->by_code, dh_hash_combine(dh_hash_combine(1, site), ctx));
    if (!*number) {
        struct dh_view_code new = {.site = site, .ctx = ctx};
        add_what_paths_may(s, &new);
        dh_vec_push(&s->codes, new);
        *number = s->codes.n;
    }
    return *number - 1;
}

bool dh_view_may_access(const struct dh_view_store *s, const struct dh_view *v, uint32_t name)
{
    const struct dh_view_code *c = &s->codes.at[v->code];
    for (size_t i = 0; i < c->names.n; i++)
        if (c->names.at[i] == name)
            return true;
    return false;
}

/* ---- views ---- */

static void free_view(struct dh_view *v)
{
    for (size_t i = 0; i < v->n_samples; i++)
        dh_hb_snapshot_unref(v->samples[i]);
    dh_vec_release(&v->in.outer);
    dh_field_set_release(&v->in.part);
    free(v);
}

static uint64_t hash_names(const struct dh_field_set *s)
{
    uint64_t h = 7;
    uint32_t last = 0;
    for (size_t i = 0; i < s->at.n; i++)
        if (s->at.at[i].name != last) {
            last = s->at.at[i].name;
            h = dh_hash_combine(h, (uint64_t)last << 2 | s->at.at[i].how);
        }
    return h;
}

static void occurred(struct dh_view_store *s, struct dh_view *v)
{
    uint32_t thread = v->in.thread;
    if (v->n_samples < DH_VIEW_SAMPLES && v->times + 1 == 1ull << v->n_samples)
        v->samples[v->n_samples++] = dh_hb_snapshot_ref(dh_hb_snapshots_current(&s->snapshots, thread));
    v->times++;
    v->last = dh_hb_snapshots_epoch(&s->snapshots, thread);
}

static struct dh_view *new_view(const struct dh_critical_section *c, const struct dh_field_set *fields, size_t code)
{
    struct dh_view *v = DH_NEW(struct dh_view);
    v->in = *c;
    v->code = code;
    memset(&v->in.outer, 0, sizeof v->in.outer);
    for (size_t i = 0; i < c->outer.n; i++)
        dh_vec_push(&v->in.outer, c->outer.at[i]);
    v->in.whole = (struct dh_field_set){0};
    dh_field_set_copy(&v->in.part, fields);
    return v;
}

static uint64_t key_of(const struct dh_guarded_views *g, const struct dh_critical_section *c,
                       const struct dh_field_set *fields, size_t code, unsigned role)
{
    uint64_t key = dh_hash_combine(dh_hash_combine(dh_hash_combine(dh_field_set_hash(fields), c->thread), code), g->id);
    for (size_t i = 0; i < c->outer.n; i++)
        key = dh_hash_combine(key, (uint64_t)c->outer.at[i].id << 1 | c->outer.at[i].shared);
    return dh_hash_combine(key, role);
}

static struct dh_view *add_view(struct dh_view_store *s, struct dh_guarded_views *g,
                                const struct dh_critical_section *c, const struct dh_field_set *fields, bool atomic,
                                bool complete)
{
    size_t code = code_of(s, c->site, c->ctx);
    uint64_t *known =
        dh_u64_map_at(&s->by_view, key_of(g, c, fields, code, (unsigned)atomic << 1 | (unsigned)complete));
    struct dh_view *v = (struct dh_view *)(uintptr_t)*known;
    if (!v) {
        uint64_t alike = dh_hash_combine(dh_hash_combine(dh_hash_combine(hash_names(fields), c->thread), code), g->id);
        if (++*dh_u64_map_at(&s->alike, alike) > MOST_ALIKE || g->views.n >= MOST_VIEWS)
            return NULL;
        v = new_view(c, fields, code);
        v->atomic = atomic;
        v->complete = complete;
        for (size_t i = 0; i < fields->at.n; i++)
            add_name(&s->codes.at[code], fields->at.at[i].name);
        dh_vec_push(&g->views, v);
        *known = (uintptr_t)v;
    }
    occurred(s, v);
    return v;
}

static void retire(struct dh_view_store *s, struct dh_guarded_views *g)
{
    s->retire(s->arg, g);
    for (size_t i = 0; i < g->views.n; i++)
        free_view(g->views.at[i]);
    dh_vec_release(&g->views);
}

static struct dh_guarded_views *guard_of(struct dh_view_store *s, const struct dh_critical_section *c)
{
    uint64_t *number = dh_u64_map_at(&s->by_lock, c->lock);
    if (!*number) {
        struct dh_guarded_views *new = DH_NEW(struct dh_guarded_views);
        *new = (struct dh_guarded_views){.lock = c->lock, .id = c->id};
        dh_vec_push(&s->guards, new);
        *number = s->guards.n;
    }
    struct dh_guarded_views *g = s->guards.at[*number - 1];
    if (g->id != c->id) {
        retire(s, g);
        g->id = c->id;
    }
    return g;
}

static void closed(void *arg, const struct dh_critical_section *c, bool ended)
{
    struct dh_view_store *s = arg;
    struct dh_guarded_views *g = guard_of(s, c);
    struct dh_view *v = NULL;
    if (c->part.at.n)
        v = add_view(s, g, c, &c->part, true, !c->waited);
    if (ended && c->waited && c->whole.at.n)
        v = add_view(s, g, c, &c->whole, false, true);
    if (ended && s->section)
        s->section(s->arg, g, v, c);
}

bool dh_view_comes_between(const struct dh_view *v, const struct dh_hb_snapshot *after, struct dh_hb_epoch before)
{
    for (size_t i = 0; i < v->n_samples; i++)
        if (!dh_hb_snapshot_before(v->samples[i], after) && !dh_hb_epoch_before(before, v->samples[i]))
            return true;
    return false;
}

struct dh_lock_hold dh_view_lock(const struct dh_view *v)
{
    return (struct dh_lock_hold){.lock = v->in.lock,
                                 .id = v->in.id,
                                 .shared = v->in.shared,
                                 .depth = 1,
                                 .site = v->in.site,
                                 .ctx = v->in.ctx,
                                 .acquisition = v->in.acquisition};
}

struct dh_field_place dh_field_place_of(const struct dh_field *f, bool *write)
{
    *write = f->how & DH_FIELD_WRITTEN;
    return *write ? f->write : f->read;
}

/* ---- the store ---- */

void dh_view_store_init(struct dh_view_store *s, struct dh_run_state *w)
{
    memset(s, 0, sizeof *s);
    s->run = w;
    dh_field_names_init(&s->names);
    dh_critical_sections_init(&s->open, w, &s->names, closed, s);
    dh_hb_snapshots_init(&s->snapshots, DH_EDGES_WITHOUT_LOCKS);
}

void dh_view_store_event(struct dh_view_store *s, const struct dh_event *e)
{
    dh_critical_sections_event(&s->open, e);
    dh_hb_snapshots_event(&s->snapshots, e);
}

void dh_view_store_end(struct dh_view_store *s)
{
    for (size_t i = 0; i < s->guards.n; i++)
        retire(s, s->guards.at[i]);
}

void dh_view_store_release(struct dh_view_store *s)
{
    for (size_t i = 0; i < s->guards.n; i++) {
        for (size_t k = 0; k < s->guards.at[i]->views.n; k++)
            free_view(s->guards.at[i]->views.at[k]);
        dh_vec_release(&s->guards.at[i]->views);
        free(s->guards.at[i]);
    }
    for (size_t i = 0; i < s->codes.n; i++)
        dh_vec_release(&s->codes.at[i].names);
    dh_vec_release(&s->guards);
    dh_vec_release(&s->codes);
    dh_u64_map_release(&s->by_lock);
    dh_u64_map_release(&s->by_view);
    dh_u64_map_release(&s->alike);
    dh_u64_map_release(&s->by_code);
    dh_critical_sections_release(&s->open);
    dh_hb_snapshots_release(&s->snapshots);
    dh_field_names_release(&s->names);
}
