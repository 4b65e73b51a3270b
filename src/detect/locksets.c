#include "detect/locksets.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct set {
    uint32_t refs, n, hash, next; /* next of the bucket, or of the free ones */
    uint32_t *locks;
};

/* Remembered intersections hold what they speak of. */
struct met {
    uint32_t a, b, both;
    bool full;
};
enum { MET = 1024 };

struct dh_locksets {
    DH_VEC(struct set) sets; /* by number; 0 is the empty set */
    uint32_t free;           /* first free number, 0: none */
    uint32_t *buckets;
    size_t n, n_buckets;
    struct met met[MET];
    DH_VEC(uint32_t) scratch;
};

struct dh_locksets *dh_locksets_new(void)
{
    struct dh_locksets *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    dh_vec_push(&s->sets, (struct set){.refs = 1});
    return s;
}

void dh_locksets_free(struct dh_locksets *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->sets.n; i++)
        free(s->sets.at[i].locks);
    dh_vec_release(&s->sets);
    dh_vec_release(&s->scratch);
    free(s->buckets);
    free(s);
}

static bool is_special(uint32_t set)
{
    return set == DH_LOCKSET_NONE || set == DH_LOCKSET_ALL;
}

/* ---- each set once ---- */

static uint32_t hash_of(const uint32_t *locks, size_t n)
{
    uint64_t h = 0x9e3779b97f4a7c15u + n;
    for (size_t i = 0; i < n; i++)
        h = (h ^ locks[i]) * 0xff51afd7ed558ccdu, h ^= h >> 29;
    return (uint32_t)(h ^ h >> 32);
}

static void rehash(struct dh_locksets *s)
{
    s->n_buckets = s->n_buckets ? 2 * s->n_buckets : 64;
    free(s->buckets);
    s->buckets = calloc(s->n_buckets, sizeof *s->buckets);
    if (!s->buckets)
        abort();
    for (uint32_t i = 1; i < s->sets.n; i++) {
        struct set *set = &s->sets.at[i];
        if (!set->refs)
            continue;
        uint32_t *bucket = &s->buckets[set->hash & (s->n_buckets - 1)];
        set->next = *bucket;
        *bucket = i;
    }
}

static uint32_t new_number(struct dh_locksets *s)
{
    uint32_t id = s->free;
    if (id) {
        s->free = s->sets.at[id].next;
        return id;
    }
    dh_vec_push(&s->sets, (struct set){0});
    return (uint32_t)s->sets.n - 1;
}

static uint32_t add(struct dh_locksets *s, const uint32_t *locks, size_t n, uint32_t hash)
{
    uint32_t id = new_number(s);
    uint32_t *own = malloc(n * sizeof *own);
    if (!own)
        abort();
    memcpy(own, locks, n * sizeof *own);
    if (s->n >= s->n_buckets)
        rehash(s);
    uint32_t *bucket = &s->buckets[hash & (s->n_buckets - 1)];
    s->sets.at[id] = (struct set){.refs = 1, .n = (uint32_t)n, .hash = hash, .next = *bucket, .locks = own};
    *bucket = id;
    s->n++;
    return id;
}

/* Of ascending numbers. */
static uint32_t intern(struct dh_locksets *s, const uint32_t *locks, size_t n)
{
    if (!n)
        return DH_LOCKSET_NONE;
    uint32_t hash = hash_of(locks, n);
    for (uint32_t i = s->n_buckets ? s->buckets[hash & (s->n_buckets - 1)] : 0; i; i = s->sets.at[i].next) {
        const struct set *set = &s->sets.at[i];
        if (set->hash == hash && set->n == n && memcmp(set->locks, locks, n * sizeof *locks) == 0)
            return dh_locksets_ref(s, i);
    }
    return add(s, locks, n, hash);
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
    uint32_t *at = &s->buckets[set->hash & (s->n_buckets - 1)];
    while (*at != id)
        at = &s->sets.at[*at].next;
    *at = set->next;
    free(set->locks);
    *set = (struct set){.next = s->free};
    s->free = id;
    s->n--;
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

const uint32_t *dh_locksets_members(const struct dh_locksets *s, uint32_t set, size_t *n)
{
    *n = s->sets.at[set].n;
    return s->sets.at[set].locks;
}

/* ---- intersections ---- */

static uint32_t compute_meet(struct dh_locksets *s, uint32_t a, uint32_t b)
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

static void forget_met(struct dh_locksets *s, struct met *m)
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
    struct met *m = &s->met[(low * 31u + high) % MET];
    if (!m->full || m->a != low || m->b != high) {
        /* Other than it may be what the caller holds alone: taken before anything is put. */
        uint32_t both = compute_meet(s, low, high);
        dh_locksets_ref(s, low);
        dh_locksets_ref(s, high);
        forget_met(s, m);
        *m = (struct met){low, high, both, true};
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
