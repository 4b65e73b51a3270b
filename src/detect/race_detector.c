/* Data races by happens-before on the event stream: two accesses of a byte, one of them writing and not both atomic,
 * that nothing orders in this run (FastTrack's epochs, with every access kept that another has not made superfluous).
 * A byte is told of exactly when some pair of accesses races on it. */
#include "base/alloc.h"
#include "base/vec.h"
#include "detect/detector.h"
#include "detect/happens_before.h"

#include <stdlib.h>
#include <string.h>

enum { GRANULE = 8, BLOCK_SHIFT = 9, BLOCK = 1 << BLOCK_SHIFT, GRANULES = BLOCK / GRANULE };

/* What can be done to a byte, and what it is in the way of. */
enum kind { READS, WRITES, ATOMIC_READS, ATOMIC_WRITES };
static const uint8_t conflicts[] = {
    [READS] = 1 << WRITES | 1 << ATOMIC_WRITES,
    [WRITES] = 1 << READS | 1 << WRITES | 1 << ATOMIC_READS | 1 << ATOMIC_WRITES,
    [ATOMIC_READS] = 1 << WRITES,
    [ATOMIC_WRITES] = 1 << READS | 1 << WRITES,
};

struct access {
    uint32_t thread, time, site, ctx;
    uint32_t locks; /* held at the time: index */
    uint8_t mask;   /* bytes of the granule */
    uint8_t kind, op, flags;
};

struct granule {
    struct access *at;
    uint32_t n, cap;
};

/* As long as only accesses to all of its bytes are known, they are told once. */
struct block {
    uint64_t number; /* address >> BLOCK_SHIFT */
    struct block *next;
    struct granule whole;
    struct granule *granules; /* NULL: `whole` stands for each */
};

struct lock_set {
    struct dh_lock_hold *at;
    size_t n;
    uint64_t hash;
};

/* The set a thread has in the section it is in. */
struct section {
    uint64_t section;
    uint32_t locks;
};

struct hit {
    struct access before;
    uint64_t addr, size;
};

struct race {
    struct dh_run_state *world;
    struct dh_happens *happens;
    struct block **buckets;
    size_t n_blocks, n_buckets;
    DH_VEC(struct lock_set) lock_sets;
    uint32_t *lock_index; /* index + 1 by hash */
    size_t cap_lock_index;
    DH_VEC(struct section) sections; /* by thread */
    DH_VEC(struct hit) hits;         /* of the access now */
    uint64_t *told;                  /* pairs of places, by hash; 0: free */
    size_t n_told, cap_told;
};

const struct dh_detector dh_detector_race;

static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* ---- memory ---- */

static size_t bucket_of(const struct race *r, uint64_t number)
{
    return mix(0, number) & (r->n_buckets - 1);
}

static struct block *find_block(const struct race *r, uint64_t number)
{
    struct block *b = r->n_buckets ? r->buckets[bucket_of(r, number)] : NULL;
    while (b && b->number != number)
        b = b->next;
    return b;
}

static void more_buckets(struct race *r)
{
    struct block **old = r->buckets;
    size_t n = r->n_buckets;
    r->n_buckets = n ? 2 * n : 1024;
    r->buckets = dh_xcalloc(r->n_buckets, sizeof *r->buckets);
    for (size_t i = 0; i < n; i++)
        for (struct block *b = old[i], *next; b; b = next) {
            struct block **at = &r->buckets[bucket_of(r, b->number)];
            next = b->next;
            b->next = *at;
            *at = b;
        }
    free(old);
}

static struct block *block_at(struct race *r, uint64_t number)
{
    struct block *b = find_block(r, number);
    if (b)
        return b;
    if (r->n_blocks++ >= r->n_buckets)
        more_buckets(r);
    struct block **at = &r->buckets[bucket_of(r, number)];
    b = dh_xcalloc(1, sizeof *b);
    b->number = number;
    b->next = *at;
    return *at = b;
}

static void free_block(struct block *b)
{
    for (size_t i = 0; b->granules && i < GRANULES; i++)
        free(b->granules[i].at);
    free(b->granules);
    free(b->whole.at);
    free(b);
}

static void split(struct block *b)
{
    if (b->granules)
        return;
    b->granules = dh_xcalloc(GRANULES, sizeof *b->granules);
    for (size_t i = 0; b->whole.n && i < GRANULES; i++) {
        struct granule *g = &b->granules[i];
        g->at = dh_xcalloc(b->whole.n, sizeof *g->at);
        g->n = g->cap = b->whole.n;
        memcpy(g->at, b->whole.at, g->n * sizeof *g->at);
    }
    free(b->whole.at);
    b->whole = (struct granule){0};
}

/* Bytes [addr, addr + size) of the granule that begins at `granule`. */
static uint8_t mask_of(uint64_t granule, uint64_t addr, uint64_t size)
{
    unsigned from = addr > granule ? (unsigned)(addr - granule) : 0;
    uint64_t end = addr + size - granule;
    return (uint8_t)((end >= GRANULE ? 0xFF : (1u << end) - 1) & 0xFFu << from);
}

/* ---- locks ---- */

static uint64_t hash_held(const struct dh_lock_hold *at, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++)
        h = mix(mix(h, (uint64_t)at[i].id << 1 | at[i].shared), at[i].site);
    return h;
}

static bool same_held(const struct dh_lock_hold *a, const struct dh_lock_hold *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].id != b[i].id || a[i].shared != b[i].shared || a[i].site != b[i].site)
            return false;
    return true;
}

static void index_lock_set(struct race *r, uint32_t set)
{
    size_t i = r->lock_sets.at[set].hash & (r->cap_lock_index - 1);
    while (r->lock_index[i])
        i = (i + 1) & (r->cap_lock_index - 1);
    r->lock_index[i] = set + 1;
}

static uint32_t add_lock_set(struct race *r, const struct dh_lock_hold *at, size_t n, uint64_t hash)
{
    struct lock_set set = {.at = dh_xcalloc(n + 1, sizeof *at), .n = n, .hash = hash};
    memcpy(set.at, at, n * sizeof *at);
    dh_vec_push(&r->lock_sets, set);
    if (r->lock_sets.n * 2 < r->cap_lock_index) {
        index_lock_set(r, (uint32_t)r->lock_sets.n - 1);
    } else {
        free(r->lock_index);
        r->cap_lock_index = r->cap_lock_index ? r->cap_lock_index * 2 : 64;
        r->lock_index = dh_xcalloc(r->cap_lock_index, sizeof *r->lock_index);
        for (uint32_t i = 0; i < r->lock_sets.n; i++)
            index_lock_set(r, i);
    }
    return (uint32_t)r->lock_sets.n - 1;
}

static uint32_t find_lock_set(struct race *r, const struct dh_lock_hold *at, size_t n)
{
    static const struct dh_lock_hold nothing;
    uint64_t hash = hash_held(at, n);
    for (size_t i = hash; r->cap_lock_index && r->lock_index[i & (r->cap_lock_index - 1)]; i++) {
        uint32_t set = r->lock_index[i & (r->cap_lock_index - 1)] - 1;
        if (r->lock_sets.at[set].n == n && same_held(r->lock_sets.at[set].at, at, n))
            return set;
    }
    return add_lock_set(r, n ? at : &nothing, n, hash);
}

static uint32_t locks_of(struct race *r, uint32_t thread)
{
    const struct dh_run_thread *t = dh_run_thread(r->world, thread);
    while (r->sections.n <= thread)
        dh_vec_push(&r->sections, (struct section){.section = UINT64_MAX});
    struct section *s = &r->sections.at[thread];
    if (s->section != t->section)
        *s = (struct section){t->section, find_lock_set(r, t->held.at, t->held.n)};
    return s->locks;
}

/* ---- one access ---- */

static bool same_access(const struct access *a, const struct access *b)
{
    return a->thread == b->thread && a->time == b->time && a->site == b->site && a->ctx == b->ctx && a->op == b->op;
}

static void add_hit(struct race *r, const struct access *before, uint64_t addr, uint64_t size)
{
    for (size_t i = r->hits.n; i-- > 0;)
        if (same_access(&r->hits.at[i].before, before) && r->hits.at[i].addr + r->hits.at[i].size == addr) {
            r->hits.at[i].size += size;
            return;
        }
    dh_vec_push(&r->hits, (struct hit){*before, addr, size});
}

/* Runs of bytes of the granule at `at`, or of all of its block: each byte of the mask stands for `scale`. */
static void add_hits(struct race *r, const struct access *before, uint64_t at, uint8_t bytes, unsigned scale)
{
    while (bytes) {
        unsigned low = (unsigned)__builtin_ctz(bytes);
        unsigned run = (unsigned)__builtin_ctz(~((unsigned)bytes >> low));
        add_hit(r, before, at + (uint64_t)low * scale, (uint64_t)run * scale);
        bytes &= (uint8_t)~(((1u << run) - 1) << low);
    }
}

/* Whoever races with `old` races with `new`, too, if the old is before the new. */
static bool replaces(const struct access *new, const struct access *old)
{
    return !(conflicts[old->kind] & ~conflicts[new->kind]);
}

static void drop_empty(struct granule *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n; i++)
        if (g->at[i].mask)
            g->at[n++] = g->at[i];
    g->n = n;
}

static void keep(struct granule *g, const struct access *a)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (same_access(&g->at[i], a) && g->at[i].locks == a->locks) {
            g->at[i].mask |= a->mask;
            return;
        }
    if (g->n == g->cap) {
        g->cap = g->cap ? 2 * g->cap : 2;
        g->at = realloc(g->at, g->cap * sizeof *g->at);
        if (!g->at)
            abort();
    }
    g->at[g->n++] = *a;
}

static void look(struct race *r, struct granule *g, uint64_t at, unsigned scale, const struct access *a)
{
    bool empty = false;
    for (uint32_t i = 0; i < g->n; i++) {
        struct access *old = &g->at[i];
        uint8_t bytes = old->mask & a->mask;
        if (!bytes)
            continue;
        if (dh_happens_before(r->happens, old->thread, old->time, a->thread)) {
            if (replaces(a, old)) {
                old->mask &= (uint8_t)~bytes;
                empty |= !old->mask;
            }
        } else if (conflicts[a->kind] >> old->kind & 1) {
            add_hits(r, old, at, bytes, scale);
        }
    }
    if (empty)
        drop_empty(g);
    keep(g, a);
}

/* Nothing new: it did the same there before in this epoch. */
static bool repeats(const struct granule *g, const struct access *a)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (g->at[i].thread == a->thread && g->at[i].time == a->time && g->at[i].kind == a->kind &&
            !(a->mask & ~g->at[i].mask))
            return true;
    return false;
}

/* ---- telling ---- */

static uint64_t pair_of(const struct hit *h, const struct access *now)
{
    uint64_t a = (uint64_t)h->before.site << 8 | h->before.op, b = (uint64_t)now->site << 8 | now->op;
    uint64_t key = mix(mix(1, a < b ? a : b), a < b ? b : a);
    if (h->before.site == DH_NO_PLACE || now->site == DH_NO_PLACE)
        key = mix(key, h->addr / GRANULE);
    return key | 1;
}

static size_t told_slot(const struct race *r, uint64_t pair)
{
    size_t i = pair >> 8 & (r->cap_told - 1);
    while (r->told[i] && r->told[i] != pair)
        i = (i + 1) & (r->cap_told - 1);
    return i;
}

static void remember(struct race *r, uint64_t pair)
{
    if (r->n_told * 2 >= r->cap_told) {
        uint64_t *old = r->told;
        size_t cap = r->cap_told;
        r->cap_told = cap ? cap * 2 : 64;
        r->told = dh_xcalloc(r->cap_told, sizeof *r->told);
        for (size_t i = 0; i < cap; i++)
            if (old[i])
                r->told[told_slot(r, old[i])] = old[i];
        free(old);
    }
    size_t i = told_slot(r, pair);
    r->n_told += !r->told[i];
    r->told[i] = pair;
}

static struct dh_suspect suspect(const struct race *r, const struct access *a, uint64_t addr, uint64_t size)
{
    const struct lock_set *locks = &r->lock_sets.at[a->locks];
    return (struct dh_suspect){.op = a->op,
                               .flags = a->flags,
                               .thread = a->thread,
                               .site = a->site,
                               .ctx = a->ctx,
                               .addr = addr,
                               .size = size,
                               .locks = locks->at,
                               .n_locks = locks->n};
}

static void tell(struct race *r, const struct hit *h, const struct access *now)
{
    struct dh_suspect both[] = {suspect(r, now, h->addr, h->size), suspect(r, &h->before, h->addr, h->size)};
    struct dh_suspicion s = {.kind = DH_SUSPECT_RACE,
                             .level = DH_LEVEL_OBSERVED,
                             .addr = h->addr,
                             .size = h->size,
                             .suspects = both,
                             .n_suspects = 2,
                             .text = "nothing in this run orders the two accesses"};
    dh_run_report(r->world, &dh_detector_race, &s);
}

/* All that one access ran into, if its place and the other's were not told before. */
static void tell_hits(struct race *r, const struct access *now)
{
    size_t n = 0;
    for (size_t i = 0; i < r->hits.n; i++)
        if (!r->cap_told || !r->told[told_slot(r, pair_of(&r->hits.at[i], now))])
            r->hits.at[n++] = r->hits.at[i];
    for (size_t i = 0; i < n; i++) {
        remember(r, pair_of(&r->hits.at[i], now));
        tell(r, &r->hits.at[i], now);
    }
    r->hits.n = 0;
}

/* ---- events ---- */

static void touch_one(struct race *r, struct granule *g, uint64_t at, unsigned scale, const struct access *a)
{
    if (!repeats(g, a))
        look(r, g, at, scale, a);
}

/* Bytes of one block. */
static void touch_block(struct race *r, struct block *b, struct access *a, uint64_t addr, uint64_t size)
{
    if (size == BLOCK && !b->granules) {
        a->mask = 0xFF;
        touch_one(r, &b->whole, addr, BLOCK / 8, a);
        return;
    }
    split(b);
    for (uint64_t at = addr & ~(uint64_t)(GRANULE - 1); at - addr < size || at < addr; at += GRANULE) {
        a->mask = mask_of(at, addr, size);
        touch_one(r, &b->granules[at / GRANULE % GRANULES], at, 1, a);
    }
}

static void touch(struct race *r, struct access *a, uint64_t addr, uint64_t size)
{
    if (!size || addr + size < addr)
        return;
    for (uint64_t at = addr, end = addr + size; at < end;) {
        uint64_t start = at & ~(uint64_t)(BLOCK - 1), next = end - start < BLOCK ? end : start + BLOCK;
        touch_block(r, block_at(r, at >> BLOCK_SHIFT), a, at, next - at);
        at = next;
    }
    tell_hits(r, a);
}

static struct access access_of(struct race *r, const struct dh_event *e, enum kind kind, unsigned op)
{
    return (struct access){.thread = e->thread,
                           .time = dh_happens_time(r->happens, e->thread),
                           .site = e->site,
                           .ctx = e->ctx,
                           .locks = locks_of(r, e->thread),
                           .kind = (uint8_t)kind,
                           .op = (uint8_t)op,
                           .flags = e->flags};
}

static void plain(struct race *r, const struct dh_event *e)
{
    bool write = e->kind == DH_EVENT_WRITE;
    struct access a = access_of(r, e, write ? WRITES : READS, write ? DH_OP_WRITE : DH_OP_READ);
    touch(r, &a, e->addr, e->arg);
}

/* A reader is after what it acquires by this very operation; what it publishes includes the operation. */
static void atomic(struct race *r, const struct dh_event *e)
{
    struct access a = access_of(r, e, dh_event_atomic_wrote(e) ? ATOMIC_WRITES : ATOMIC_READS, dh_event_atomic_op(e));
    dh_happens_event(r->happens, e);
    touch(r, &a, e->addr, dh_event_atomic_size(e));
}

/* Blocks of the range that were accessed; fn may take its block out. */
static void each_block(struct race *r, uint64_t addr, uint64_t size, void (*fn)(struct race *, struct block **, void *),
                       void *arg)
{
    uint64_t first = addr >> BLOCK_SHIFT, last = (addr + size - 1) >> BLOCK_SHIFT;
    if (!size || last < first || !r->n_blocks)
        return;
    bool all = last - first >= r->n_buckets; /* a large mapping, few accesses */
    for (uint64_t i = 0; i < (all ? r->n_buckets : last - first + 1); i++) {
        struct block **at = &r->buckets[all ? i : bucket_of(r, first + i)];
        while (*at) {
            struct block *b = *at;
            if (all ? b->number >= first && b->number <= last : b->number == first + i)
                fn(r, at, arg);
            if (*at == b)
                at = &b->next;
        }
    }
}

struct freeing {
    struct access access;
    uint64_t addr, size;
};

static void look_at_freed(struct race *r, struct block **at, void *arg)
{
    struct freeing *f = arg;
    uint64_t start = (*at)->number << BLOCK_SHIFT, end = f->addr + f->size;
    uint64_t from = f->addr > start ? f->addr : start, to = end - start < BLOCK ? end : start + BLOCK;
    touch_block(r, *at, &f->access, from, to - from);
}

static void forget(struct race *r, struct block **at, void *arg)
{
    const struct freeing *f = arg;
    struct block *b = *at;
    uint64_t start = b->number << BLOCK_SHIFT;
    if (start >= f->addr && f->addr + f->size - start >= BLOCK) {
        *at = b->next;
        free_block(b);
        r->n_blocks--;
        return;
    }
    split(b);
    for (size_t k = 0; k < GRANULES; k++) {
        uint64_t granule = start + k * GRANULE;
        struct granule *g = &b->granules[k];
        if (granule + GRANULE <= f->addr || granule >= f->addr + f->size)
            continue;
        for (uint32_t i = 0; i < g->n; i++)
            g->at[i].mask &= (uint8_t)~mask_of(granule, f->addr, f->size);
        drop_empty(g);
    }
}

/* A new object: what was done to the old one does not count. Giving a block back is like writing all of it. */
static void memory(struct race *r, const struct dh_event *e)
{
    struct freeing f = {.addr = e->addr, .size = e->arg};
    if (e->kind == DH_EVENT_FREE && e->flags == DH_MEMORY_HEAP) {
        f.access = access_of(r, e, WRITES, DH_OP_FREE);
        f.access.flags = 0;
        each_block(r, e->addr, e->arg, look_at_freed, &f);
        tell_hits(r, &f.access);
    }
    each_block(r, e->addr, e->arg, forget, &f);
}

static void event(void *self, const struct dh_event *e)
{
    struct race *r = self;
    if (dh_event_is_access(e)) {
        plain(r, e);
        return;
    }
    if (e->kind == DH_EVENT_ATOMIC) {
        atomic(r, e);
        return;
    }
    if (e->kind == DH_EVENT_ALLOC || e->kind == DH_EVENT_FREE)
        memory(r, e);
    dh_happens_event(r->happens, e);
}

static void *begin(struct dh_run_state *w, const struct dh_detector_options *o, const char **why)
{
    struct race *r = DH_NEW(struct race);
    (void)o;
    (void)why;
    r->world = w;
    r->happens = dh_happens_new(DH_EDGES_ALL);
    return r;
}

static void release(void *self)
{
    struct race *r = self;
    for (size_t i = 0; i < r->n_buckets; i++)
        for (struct block *b = r->buckets[i], *next; b; b = next) {
            next = b->next;
            free_block(b);
        }
    for (size_t i = 0; i < r->lock_sets.n; i++)
        free(r->lock_sets.at[i].at);
    free(r->buckets);
    free(r->lock_index);
    free(r->told);
    dh_vec_release(&r->lock_sets);
    dh_vec_release(&r->sections);
    dh_vec_release(&r->hits);
    dh_happens_free(r->happens);
    free(r);
}

const struct dh_detector dh_detector_race = {
    .name = "race",
    .summary = "data races: accesses that nothing orders in this run (happens-before, exact)",
    .events = DH_EVENTS_ACCESS | DH_EVENTS_ATOMIC | DH_EVENTS_MEMORY | DH_EVENTS_LOCK | DH_EVENTS_ORDER |
              DH_EVENTS_THREAD | DH_EVENTS_CONDITION,
    .begin = begin,
    .event = event,
    .release = release,
};
