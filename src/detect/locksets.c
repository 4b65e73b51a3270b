#include "detect/locksets.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct set {
    uint32_t refs, n;
    uint32_t *locks;
};

/* A cached intersection; holds references to its sets. */
struct intersection {
    uint32_t a, b, both;
    bool full;
};
enum { CACHED = 1024 };

struct dh_locksets {
    DH_VEC(struct set) sets; /* by number; 0 is the empty set */
    DH_VEC(uint32_t) unused; /* numbers */
    struct dh_index by_locks;
    struct intersection cache[CACHED];
    DH_VEC(uint32_t) scratch;
};

struct dh_locksets *dh_locksets_new(void)
{
    struct dh_locksets *s = DH_NEW(struct dh_locksets);
    dh_vec_push(&s->sets, (struct set){.refs = 1});
    return s;
}

void dh_locksets_free(struct dh_locksets *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->sets.n; i++)
        free(s->sets.at[i].locks);
    dh_index_release(&s->by_locks);
    dh_vec_release(&s->sets);
    dh_vec_release(&s->unused);
    dh_vec_release(&s->scratch);
    free(s);
}

static bool is_special(uint32_t set)
{
    return set == DH_LOCKSET_NONE || set == DH_LOCKSET_ALL;
}

/* ---- interning ---- */

static uint64_t hash_of(const uint32_t *locks, size_t n)
{
    return dh_hash_bytes(locks, n * sizeof *locks);
}

static uint32_t new_number(struct dh_locksets *s)
{
    if (s->unused.n)
        return s->unused.at[--s->unused.n];
    dh_vec_push(&s->sets, (struct set){0});
    return (uint32_t)s->sets.n - 1;
}

/* Of ascending numbers. */
static uint32_t intern(struct dh_locksets *s, const uint32_t *locks, size_t n)
{
    if (!n)
        return DH_LOCKSET_NONE;
    uint64_t hash = hash_of(locks, n);
    struct dh_probe p = dh_index_probe(&s->by_locks, hash);
    for (uint32_t i; (i = dh_index_next(&s->by_locks, &p)) != DH_ABSENT;)
        if (s->sets.at[i].n == n && memcmp(s->sets.at[i].locks, locks, n * sizeof *locks) == 0)
            return dh_locksets_ref(s, i);
    uint32_t id = new_number(s);
    s->sets.at[id] = (struct set){.refs = 1, .n = (uint32_t)n, .locks = dh_xmemdup(locks, n * sizeof *locks)};
    dh_index_add(&s->by_locks, hash, id);
    return id;
}

uint32_t dh_locksets_ref(struct dh_locksets *s, uint32_t set)
{
    if (!is_special(set))
        s->sets.at[set].refs++;
    return set;
}

void dh_locksets_unref(struct dh_locksets *s, uint32_t id)
{
    if (is_special(id) || --s->sets.at[id].refs)
        return;
    struct set *set = &s->sets.at[id];
    dh_index_remove(&s->by_locks, hash_of(set->locks, set->n), id);
    free(set->locks);
    *set = (struct set){0};
    dh_vec_push(&s->unused, id);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

uint32_t dh_locksets_get(struct dh_locksets *s, const uint32_t *locks, size_t n)
{
    size_t kept = 0;
    s->scratch.n = 0;
    for (size_t i = 0; i < n; i++)
        dh_vec_push(&s->scratch, locks[i]);
    if (n > 1)
        qsort(s->scratch.at, n, sizeof *s->scratch.at, by_number);
    for (size_t i = 0; i < n; i++)
        if (!kept || s->scratch.at[kept - 1] != s->scratch.at[i])
            s->scratch.at[kept++] = s->scratch.at[i];
    return intern(s, s->scratch.at, kept);
}

/* ---- intersections ---- */

static uint32_t compute_intersection(struct dh_locksets *s, uint32_t a, uint32_t b)
{
    const struct set *x = &s->sets.at[a], *y = &s->sets.at[b];
    s->scratch.n = 0;
    for (size_t i = 0, j = 0; i < x->n && j < y->n;) {
        if (x->locks[i] == y->locks[j])
            dh_vec_push(&s->scratch, x->locks[i]);
        if (x->locks[i] <= y->locks[j])
            i++;
        else
            j++;
    }
    return intern(s, s->scratch.at, s->scratch.n);
}

static void drop_cached(struct dh_locksets *s, struct intersection *m)
{
    if (!m->full)
        return;
    dh_locksets_unref(s, m->a);
    dh_locksets_unref(s, m->b);
    dh_locksets_unref(s, m->both);
    m->full = false;
}

uint32_t dh_locksets_intersect(struct dh_locksets *s, uint32_t a, uint32_t b)
{
    if (a == DH_LOCKSET_NONE || b == DH_LOCKSET_NONE)
        return DH_LOCKSET_NONE;
    if (a == DH_LOCKSET_ALL || a == b)
        return dh_locksets_ref(s, b);
    if (b == DH_LOCKSET_ALL)
        return dh_locksets_ref(s, a);
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    struct intersection *m = &s->cache[(low * 31u + high) % CACHED];
    if (!m->full || m->a != low || m->b != high) {
        /* The caller may hold the only references: all are taken before any is dropped. */
        uint32_t both = compute_intersection(s, low, high);
        dh_locksets_ref(s, low);
        dh_locksets_ref(s, high);
        drop_cached(s, m);
        *m = (struct intersection){low, high, both, true};
    }
    return dh_locksets_ref(s, m->both);
}

bool dh_locksets_disjoint(struct dh_locksets *s, uint32_t a, uint32_t b)
{
    uint32_t both = dh_locksets_intersect(s, a, b);
    dh_locksets_unref(s, both);
    return both == DH_LOCKSET_NONE;
}

bool dh_locksets_is_subset(struct dh_locksets *s, uint32_t a, uint32_t b)
{
    if (a == b || a == DH_LOCKSET_NONE || b == DH_LOCKSET_ALL)
        return true;
    if (a == DH_LOCKSET_ALL)
        return false;
    uint32_t both = dh_locksets_intersect(s, a, b);
    dh_locksets_unref(s, both);
    return both == a;
}
