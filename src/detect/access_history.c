#include "detect/access_history.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* An entry of the cache of steps; holds references to both histories. `next` has a record of the access's segment, so
 * that lives as well. */
struct step {
    uint32_t from, next; /* next 0: empty */
    struct dh_access_record access;
};
enum { STEPS = 4096 };

struct dh_access_histories {
    struct dh_segments *segments;
    DH_VEC(struct dh_access_history *) all; /* by number; 0 and unused ones are NULL */
    DH_VEC(uint32_t) unused;
    struct dh_index by_records;
    struct step steps[STEPS];
};

struct dh_access_histories *dh_access_histories_new(struct dh_segments *m)
{
    struct dh_access_histories *s = DH_NEW(struct dh_access_histories);
    s->segments = m;
    dh_vec_push(&s->all, NULL);
    return s;
}

void dh_access_histories_free(struct dh_access_histories *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->all.n; i++)
        free(s->all.at[i]);
    dh_vec_release(&s->all);
    dh_vec_release(&s->unused);
    dh_index_release(&s->by_records);
    free(s);
}

const struct dh_access_history *dh_access_histories_at(const struct dh_access_histories *s, uint32_t history)
{
    return s->all.at[history];
}

/* ---- interning ---- */

static uint64_t hash_record(uint64_t h, const struct dh_access_record *r)
{
    uint64_t small = (uint64_t)r->ctx << 32 | (uint32_t)r->mask << 24 | r->bits << 16 | r->op << 8 | r->flags;
    return dh_hash_combine(h ^ ((uint64_t)r->segment << 32 | r->site), small);
}

static uint64_t hash_records(const struct dh_access_record *r, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++)
        h = hash_record(h, &r[i]);
    return h;
}

static uint32_t new_number(struct dh_access_histories *s)
{
    if (s->unused.n)
        return s->unused.at[--s->unused.n];
    dh_vec_push(&s->all, NULL);
    return (uint32_t)s->all.n - 1;
}

static uint32_t add_history(struct dh_access_histories *s, const struct dh_access_record *records, size_t n,
                            uint64_t hash)
{
    struct dh_access_history *h = dh_xmalloc(sizeof *h + n * sizeof *records);
    uint32_t id = new_number(s);
    *h = (struct dh_access_history){.refs = 1, .hash = hash, .n = (uint32_t)n};
    memcpy(h->at, records, n * sizeof *records);
    for (size_t i = 0; i < n; i++)
        dh_segments_ref(s->segments, records[i].segment);
    s->all.at[id] = h;
    dh_index_add(&s->by_records, hash, id);
    return id;
}

uint32_t dh_access_histories_get(struct dh_access_histories *s, const struct dh_access_record *records, size_t n)
{
    if (!n)
        return 0;
    uint64_t hash = hash_records(records, n);
    struct dh_probe p = dh_index_probe(&s->by_records, hash);
    for (uint32_t i; (i = dh_index_next(&s->by_records, &p)) != DH_ABSENT;) {
        const struct dh_access_history *h = s->all.at[i];
        if (h->hash == hash && h->n == n && memcmp(h->at, records, n * sizeof *records) == 0)
            return dh_access_histories_ref(s, i);
    }
    return add_history(s, records, n, hash);
}

uint32_t dh_access_histories_ref(struct dh_access_histories *s, uint32_t history)
{
    if (history)
        s->all.at[history]->refs++;
    return history;
}

static void free_history(struct dh_access_histories *s, uint32_t history)
{
    struct dh_access_history *h = s->all.at[history];
    dh_index_remove(&s->by_records, h->hash, history);
    for (size_t i = 0; i < h->n; i++)
        dh_segments_unref(s->segments, h->at[i].segment);
    free(h);
    s->all.at[history] = NULL;
    dh_vec_push(&s->unused, history);
}

void dh_access_histories_unref(struct dh_access_histories *s, uint32_t history)
{
    if (history && !--s->all.at[history]->refs)
        free_history(s, history);
}

void dh_access_histories_move_refs(struct dh_access_histories *s, uint32_t from, uint32_t to, uint32_t n)
{
    if (to)
        s->all.at[to]->refs += n;
    if (from && !(s->all.at[from]->refs -= n) && n)
        free_history(s, from);
}

/* ---- the cache of steps ---- */

static struct step *step_of(struct dh_access_histories *s, uint32_t history, const struct dh_access_record *access)
{
    return &s->steps[hash_record(history, access) % STEPS];
}

uint32_t dh_access_histories_cached_step(struct dh_access_histories *s, uint32_t history,
                                         const struct dh_access_record *access)
{
    const struct step *t = step_of(s, history, access);
    if (!t->next || t->from != history || memcmp(&t->access, access, sizeof *access) != 0)
        return 0;
    return dh_access_histories_ref(s, t->next);
}

void dh_access_histories_cache_step(struct dh_access_histories *s, uint32_t history,
                                    const struct dh_access_record *access, uint32_t next)
{
    struct step *t = step_of(s, history, access);
    uint32_t from = t->from, to = t->next;
    *t = (struct step){dh_access_histories_ref(s, history), dh_access_histories_ref(s, next), *access};
    if (to) {
        dh_access_histories_unref(s, from);
        dh_access_histories_unref(s, to);
    }
}
