#include "detect/field_set.h"

#include <string.h>

/* A section that walks a large structure has a piece for each node: beyond so many the set is normalised early. */
enum { UNSORTED = 1024 };

/* ---- names ---- */

void dh_field_names_init(struct dh_field_names *n)
{
    memset(n, 0, sizeof *n);
    for (size_t i = 0; i < sizeof n->recent / sizeof *n->recent; i++)
        n->recent[i].site = DH_NO_PLACE;
    dh_string_map_number(&n->names, "");
}

void dh_field_names_release(struct dh_field_names *n)
{
    dh_string_map_release(&n->names);
}

uint32_t dh_field_names_number(struct dh_field_names *n, const char *text)
{
    return dh_string_map_number(&n->names, text);
}

const char *dh_field_name(const struct dh_field_names *n, uint32_t name)
{
    return name < n->names.n ? n->names.at[name].key : "";
}

static uint32_t name_of_site(struct dh_run_state *w, struct dh_field_names *n, uint32_t site)
{
    size_t i = site % (sizeof n->recent / sizeof *n->recent);
    if (n->recent[i].site != site || site == DH_NO_PLACE) {
        n->recent[i].site = site;
        n->recent[i].name = dh_field_names_number(n, dh_run_variable(w, site));
    }
    return n->recent[i].name;
}

struct dh_field dh_field_of(struct dh_run_state *w, struct dh_field_names *n, const struct dh_event *e)
{
    const struct dh_object *o = dh_run_find_object(w, e->addr);
    uint64_t size = e->arg ? e->arg : 1;
    struct dh_field f = {.at = e->addr,
                         .end = e->addr + size < e->addr ? UINT64_MAX : e->addr + size,
                         .object = o && o->region != DH_MEMORY_GLOBAL ? o->number : 0,
                         .name = name_of_site(w, n, e->site)};
    if (e->kind == DH_EVENT_WRITE) {
        f.how = DH_FIELD_WRITTEN;
        f.write = (struct dh_field_place){e->site, e->ctx};
    } else {
        f.how = DH_FIELD_READ;
        f.read = (struct dh_field_place){e->site, e->ctx};
    }
    return f;
}

/* ---- sets ---- */

static void join_how(struct dh_field *f, const struct dh_field *from)
{
    if (from->how & ~f->how & DH_FIELD_READ)
        f->read = from->read;
    if (from->how & ~f->how & DH_FIELD_WRITTEN)
        f->write = from->write;
    f->how |= from->how;
}

void dh_field_set_add(struct dh_field_set *s, const struct dh_field *f)
{
    /* Loops access the same few fields again. */
    for (size_t k = 1; k <= 4 && k <= s->at.n - s->normalised; k++) {
        struct dh_field *last = &s->at.at[s->at.n - k];
        if (last->at == f->at && last->end == f->end && last->name == f->name && last->object == f->object) {
            join_how(last, f);
            return;
        }
    }
    dh_vec_push(&s->at, *f);
    if (s->at.n - s->normalised >= UNSORTED && s->at.n >= 2 * s->normalised)
        dh_field_set_normalise(s);
}

void dh_field_set_add_all(struct dh_field_set *s, const struct dh_field_set *from)
{
    for (size_t i = 0; i < from->at.n; i++)
        dh_field_set_add(s, &from->at.at[i]);
}

static int by_place(const void *a, const void *b)
{
    const struct dh_field *f = a, *g = b;
    if (f->object != g->object)
        return f->object < g->object ? -1 : 1;
    if (f->at != g->at)
        return f->at < g->at ? -1 : 1;
    if (f->end != g->end)
        return f->end < g->end ? -1 : 1;
    return f->name < g->name ? -1 : f->name > g->name;
}

static bool continues(const struct dh_field *a, const struct dh_field *b)
{
    return a->object == b->object && a->end == b->at && a->name == b->name && a->how == b->how;
}

/* Appends to the normalised pieces of `out`; extends the last one where the piece continues it. */
static void append(struct dh_field_set *out, const struct dh_field *f)
{
    struct dh_field *last = out->at.n ? &out->at.at[out->at.n - 1] : NULL;
    if (last && continues(last, f))
        last->end = f->end;
    else
        dh_vec_push(&out->at, *f);
}

/* The first piece from `at` on that the overlapping pieces [from, to) make; returns its end. */
static uint64_t piece_at(const struct dh_field *all, size_t from, size_t to, uint64_t at, struct dh_field *piece)
{
    const struct dh_field *smallest = NULL;
    uint64_t end = UINT64_MAX;
    *piece = (struct dh_field){0};
    for (size_t i = from; i < to; i++) {
        const struct dh_field *f = &all[i];
        if (f->end <= at)
            continue;
        if (f->at > at) {
            end = f->at < end ? f->at : end;
            continue;
        }
        end = f->end < end ? f->end : end;
        if (!smallest || (f->name && (!smallest->name || f->end - f->at < smallest->end - smallest->at)))
            smallest = f;
        join_how(piece, f);
    }
    if (smallest) {
        piece->object = smallest->object;
        piece->name = smallest->name;
    }
    piece->at = at;
    piece->end = end;
    return end;
}

/* Pieces [from, to) overlap one another without a gap. */
static void normalise_cluster(const struct dh_field *all, size_t from, size_t to, uint64_t end,
                              struct dh_field_set *out)
{
    struct dh_field piece;
    size_t alive = from;
    for (uint64_t at = all[from].at; at < end;) {
        while (alive < to && all[alive].end <= at)
            alive++;
        /* Sorted by their beginnings: one that begins after the nearest end does not matter. */
        size_t stop = alive;
        while (stop < to && all[stop].at <= at)
            stop++;
        at = piece_at(all, alive, stop < to ? stop + 1 : to, at, &piece);
        append(out, &piece);
    }
}

void dh_field_set_normalise(struct dh_field_set *s)
{
    if (s->normalised == s->at.n)
        return;
    struct dh_field_set out = {0};
    qsort(s->at.at, s->at.n, sizeof *s->at.at, by_place);
    for (size_t i = 0, j; i < s->at.n; i = j) {
        uint64_t end = s->at.at[i].end;
        for (j = i + 1; j < s->at.n && s->at.at[j].object == s->at.at[i].object && s->at.at[j].at < end; j++)
            if (s->at.at[j].end > end)
                end = s->at.at[j].end;
        if (j == i + 1)
            append(&out, &s->at.at[i]);
        else
            normalise_cluster(s->at.at, i, j, end, &out);
    }
    dh_vec_release(&s->at);
    *s = out;
    s->normalised = s->at.n;
}

void dh_field_set_copy(struct dh_field_set *to, const struct dh_field_set *from)
{
    *to = (struct dh_field_set){0};
    dh_vec_reserve(&to->at, from->at.n ? from->at.n : 1);
    if (from->at.n)
        memcpy(to->at.at, from->at.at, from->at.n * sizeof *from->at.at);
    to->at.n = from->at.n;
    to->normalised = from->normalised;
}

void dh_field_set_release(struct dh_field_set *s)
{
    dh_vec_release(&s->at);
    s->normalised = 0;
}

static bool lies_before(const struct dh_field *f, uint32_t object, uint64_t at)
{
    return f->object < object || (f->object == object && f->end <= at);
}

bool dh_field_set_overlaps(const struct dh_field_set *s, uint32_t object, uint64_t at, uint64_t end)
{
    size_t low = 0, high = s->at.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (lies_before(&s->at.at[mid], object, at))
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->at.n && s->at.at[low].object == object && s->at.at[low].at < end;
}

uint64_t dh_field_set_hash(const struct dh_field_set *s)
{
    uint64_t h = s->at.n;
    for (size_t i = 0; i < s->at.n; i++) {
        const struct dh_field *f = &s->at.at[i];
        const uint64_t parts[] = {f->at, f->end, f->object, f->name, f->how};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            h = dh_hash_combine(h, parts[k]);
    }
    return h;
}

bool dh_field_set_next_common(const struct dh_field_set *a, const struct dh_field_set *b, struct dh_field_set_common *c)
{
    while (c->i < a->at.n && c->j < b->at.n) {
        const struct dh_field *f = &a->at.at[c->i], *g = &b->at.at[c->j];
        bool meet = f->object == g->object && f->at < g->end && g->at < f->end;
        c->a = f;
        c->b = g;
        c->at = f->at > g->at ? f->at : g->at;
        c->end = f->end < g->end ? f->end : g->end;
        if (f->object != g->object ? f->object < g->object : f->end <= g->end)
            c->i++;
        else
            c->j++;
        if (meet)
            return true;
    }
    return false;
}
