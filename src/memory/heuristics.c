#include "memory/heuristics.h"

#include "base/random.h"
#include "base/reader.h"
#include "memory/run_arena.h"

/* What was read last: of an address by anyone, and stale ones by a thread at a site. */
struct entry {
    uint64_t key[2]; /* address, 0; or site + 1, thread + 1 and which bytes of a word */
    uint64_t value;
    uint32_t same, stale; /* times on end */
};

struct dh_picker {
    struct dh_run_arena arena;
    enum dh_heuristic heuristic;
    uint32_t fair_after;
    struct root {
        uint64_t seed;
        struct entry *table;
        uint32_t size, used;
    } *root;
};

/* ---- the table ---- */

/* The entry, or the empty one where it would be. */
static struct entry *place_of(struct root *r, uint64_t first, uint64_t second)
{
    uint32_t i = (uint32_t)dh_splitmix(first * 31 + second + DH_SPLITMIX_STEP);
    for (;; i++) {
        struct entry *e = &r->table[i & (r->size - 1)];
        if ((e->key[0] == first && e->key[1] == second) || !(e->key[0] | e->key[1]))
            return e;
    }
}

static bool grow(struct dh_picker *p)
{
    struct root *r = p->root, old = *r;
    uint32_t size = old.size ? 2 * old.size : 64;
    struct entry *table = dh_run_arena_take(&p->arena, size * sizeof *table);
    if (!table)
        return false;
    r->table = table;
    r->size = size;
    for (uint32_t i = 0; i < old.size; i++)
        if (old.table[i].key[0] | old.table[i].key[1])
            *place_of(r, old.table[i].key[0], old.table[i].key[1]) = old.table[i];
    return true;
}

/* NULL: no memory. Entries move when others are made. */
static struct entry *entry_of(struct dh_picker *p, uint64_t first, uint64_t second)
{
    struct root *r = p->root;
    if (2 * (r->used + 1) > r->size && !grow(p))
        return NULL;
    struct entry *e = place_of(r, first, second);
    if (!(e->key[0] | e->key[1])) {
        e->key[0] = first;
        e->key[1] = second;
        r->used++;
    }
    return e;
}

/* ---- the heuristics ---- */

struct choice {
    const struct dh_candidate *list;
    unsigned n, past; /* those that have happened come first */
    bool has_last;
    uint64_t last; /* value read last at this address */
};

static unsigned chance(struct dh_picker *p, unsigned n)
{
    return (unsigned)(dh_splitmix_next(&p->root->seed) % n);
}

static unsigned pick_newest(struct dh_picker *p, const struct choice *c)
{
    (void)p, (void)c;
    return 0;
}

static unsigned pick_oldest(struct dh_picker *p, const struct choice *c)
{
    (void)p;
    return c->past - 1;
}

static bool is_different(const struct choice *c, unsigned i)
{
    return !c->has_last || c->list[i].value != c->last;
}

static unsigned pick_oldest_different(struct dh_picker *p, const struct choice *c)
{
    for (unsigned i = c->past; i-- > 0;)
        if (is_different(c, i))
            return i;
    return pick_oldest(p, c);
}

static unsigned pick_random(struct dh_picker *p, const struct choice *c)
{
    return chance(p, c->n);
}

static unsigned pick_random_different(struct dh_picker *p, const struct choice *c)
{
    unsigned different = 0;
    for (unsigned i = 0; i < c->n; i++)
        different += is_different(c, i);
    if (!different)
        return pick_random(p, c);
    unsigned which = chance(p, different);
    for (unsigned i = 0;; i++)
        if (is_different(c, i) && which-- == 0)
            return i;
}

static const struct {
    const char *name;
    unsigned (*pick)(struct dh_picker *, const struct choice *);
} heuristics[] = {
#define DH_HEURISTIC(id, name, summary) {name, pick_##id},
#include "memory/heuristics.def"
#undef DH_HEURISTIC
};

/* ---- fairness ---- */

/* Would this be one stale value too many? It counts as read. */
static bool is_unfair(struct dh_picker *p, struct entry *e, uint64_t value)
{
    e->same = e->stale && e->value == value ? e->same + 1 : 1;
    e->stale++;
    e->value = value;
    if (e->same <= p->fair_after && e->stale <= DH_FAIR_FACTOR * p->fair_after)
        return false;
    e->same = e->stale = 0;
    return true;
}

/* Without memory to be fair by, the newest. */
unsigned dh_picker_pick(struct dh_picker *p, const struct dh_memory_access *a, const struct dh_candidate *list,
                        unsigned n)
{
    /* Halves of a word that come apart are two reads at one place, of which one may never change. */
    uint64_t site = a->site + UINT64_C(1), thread = (a->thread + UINT64_C(1)) | (a->address & 7) << 40;
    struct entry *by_site = entry_of(p, site, thread), *by_address = by_site ? entry_of(p, a->address, 0) : NULL;
    if (!by_address || !n)
        return 0;
    struct choice c = {.list = list, .n = n, .past = n, .has_last = by_address->stale, .last = by_address->value};
    while (list[c.past - 1].is_future)
        c.past--;
    unsigned i = n > 1 ? heuristics[p->heuristic].pick(p, &c) : 0;
    by_site = place_of(p->root, site, thread); /* it may have moved */
    if (list[i].value == list[0].value)
        by_site->same = by_site->stale = 0;
    else if (is_unfair(p, by_site, list[i].value))
        i = 0;
    by_address->value = list[i].value;
    by_address->stale = 1; /* there is a value */
    return i;
}

/* ---- life ---- */

void dh_picker_begin(struct dh_picker *p, uint64_t seed)
{
    dh_run_arena_clear(&p->arena);
    p->root = dh_run_arena_take(&p->arena, sizeof *p->root);
    p->root->seed = seed;
    grow(p);
}

struct dh_picker *dh_picker_new(struct dh_memory *memory, enum dh_heuristic h, uint32_t fair_after)
{
    struct dh_picker *p = memory->memory(memory, sizeof *p);
    if (!p || h >= DH_HEURISTIC_COUNT)
        return NULL;
    p->arena.memory = memory;
    p->heuristic = h;
    p->fair_after = fair_after ? fair_after : DH_FAIR_AFTER;
    if (!dh_run_arena_take(&p->arena, sizeof *p->root + 64 * sizeof(struct entry)))
        return NULL;
    dh_picker_begin(p, 0);
    return p;
}

enum dh_heuristic dh_heuristic_by_name(const char *name)
{
    unsigned h = 0;
    while (h < DH_HEURISTIC_COUNT && !dh_span_is(dh_span_of(name), heuristics[h].name))
        h++;
    return (enum dh_heuristic)h;
}
