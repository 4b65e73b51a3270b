#include "detect/field_set.h"

#include "base/alloc.h"
#include "base/str.h"

#include <string.h>

/* A section that walks a large structure has a piece per node: beyond this many, unsettled ones are settled early. */
enum { UNSETTLED = 1024 };

/* ---- names ---- */

void dh_field_names_init(struct dh_field_names *n)
{
    memset(n, 0, sizeof *n);
    for (size_t i = 0; i < sizeof n->recent / sizeof *n->recent; i++)
        n->recent[i].site = DH_NO_PLACE;
    dh_vec_push(&n->text, dh_strdup(""));
}

void dh_field_names_release(struct dh_field_names *n)
{
    for (size_t i = 0; i < n->text.n; i++)
        free(n->text.at[i]);
    dh_vec_release(&n->text);
    free(n->by_text);
}

static uint64_t hash_text(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h ^ h >> 29;
}

static size_t slot_of(const struct dh_field_names *n, const char *text)
{
    size_t i = hash_text(text) & (n->cap - 1);
    while (n->by_text[i] && strcmp(n->text.at[n->by_text[i]], text) != 0)
        i = (i + 1) & (n->cap - 1);
    return i;
}

static void grow(struct dh_field_names *n)
{
    free(n->by_text);
    n->cap = n->cap ? n->cap * 2 : 64;
    n->by_text = dh_xcalloc(n->cap, sizeof *n->by_text);
    for (uint32_t i = 1; i < n->text.n; i++)
        n->by_text[slot_of(n, n->text.at[i])] = i;
}

uint32_t dh_field_names_number(struct dh_field_names *n, const char *text)
{
    if (!*text)
        return 0;
    if (n->text.n * 2 >= n->cap)
        grow(n);
    size_t i = slot_of(n, text);
    if (!n->by_text[i]) {
        n->by_text[i] = (uint32_t)n->text.n;
        dh_vec_push(&n->text, dh_strdup(text));
    }
    return n->by_text[i];
}

const char *dh_field_name(const struct dh_field_names *n, uint32_t name)
{
    return name < n->text.n ? n->text.at[name] : "";
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
    /* Loops come to the same few fields again. */
    for (size_t k = 1; k <= 4 && k <= s->at.n - s->settled; k++) {
        struct dh_field *last = &s->at.at[s->at.n - k];
        if (last->at == f->at && last->end == f->end && last->name == f->name && last->object == f->object) {
            join_how(last, f);
            return;
        }
    }
    dh_vec_push(&s->at, *f);
    if (s->at.n - s->settled >= UNSETTLED && s->at.n >= 2 * s->settled)
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

static bool same_run(const struct dh_field *a, const struct dh_field *b)
{
    return a->object == b->object && a->end == b->at && a->name == b->name && a->how == b->how;
}

/* Appends behind what is settled in `out`, joined to its last when that goes on. */
static void append(struct dh_field_set *out, const struct dh_field *f)
{
    struct dh_field *last = out->at.n ? &out->at.at[out->at.n - 1] : NULL;
    if (last && same_run(last, f))
        last->end = f->end;
    else
        dh_vec_push(&out->at, *f);
}

/* One piece of what the pieces [from, to) say of the bytes from `at` on; answers where it ends. */
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
static void settle_cluster(const struct dh_field *all, size_t from, size_t to, uint64_t end, struct dh_field_set *out)
{
    struct dh_field piece;
    size_t alive = from;
    for (uint64_t at = all[from].at; at < end;) {
        while (alive < to && all[alive].end <= at)
            alive++;
        /* Sorted by where they begin: none that begins behind the nearest end matters. */
        size_t stop = alive;
        while (stop < to && all[stop].at <= at)
            stop++;
        at = piece_at(all, alive, stop < to ? stop + 1 : to, at, &piece);
        append(out, &piece);
    }
}

void dh_field_set_normalise(struct dh_field_set *s)
{
    if (s->settled == s->at.n)
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
            settle_cluster(s->at.at, i, j, end, &out);
    }
    dh_vec_release(&s->at);
    *s = out;
    s->settled = s->at.n;
}

void dh_field_set_copy(struct dh_field_set *to, const struct dh_field_set *from)
{
    *to = (struct dh_field_set){0};
    dh_vec_reserve(&to->at, from->at.n ? from->at.n : 1);
    if (from->at.n)
        memcpy(to->at.at, from->at.at, from->at.n * sizeof *from->at.at);
    to->at.n = from->at.n;
    to->settled = from->settled;
}

void dh_field_set_release(struct dh_field_set *s)
{
    dh_vec_release(&s->at);
    s->settled = 0;
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
            h = (h ^ parts[k]) * 0x9e3779b97f4a7c15u, h ^= h >> 32;
    }
    return h;
}

bool dh_fields_equal(const struct dh_field_set *a, const struct dh_field_set *b)
{
    bool same = a->at.n == b->at.n;
    for (size_t i = 0; same && i < a->at.n; i++) {
        const struct dh_field *f = &a->at.at[i], *g = &b->at.at[i];
        same = f->at == g->at && f->end == g->end && f->object == g->object && f->name == g->name && f->how == g->how;
    }
    return same;
}

bool dh_fields_have_name(const struct dh_field_set *s, uint32_t name)
{
    for (size_t i = 0; i < s->at.n; i++)
        if (s->at.at[i].name == name)
            return true;
    return false;
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
