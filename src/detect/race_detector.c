/* Data races by happens-before on the event stream: two accesses of a byte, one of them writing and not both atomic,
 * that are not ordered in this run (FastTrack's epochs; every access is kept until a later one implies it). A byte is
 * reported exactly when some pair of accesses races on it. */
#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "detect/detector.h"
#include "detect/happens_before.h"
#include "detect/reported_pairs.h"

#include <stdlib.h>
#include <string.h>

enum { GRANULE = 8, BLOCK_SHIFT = 9, BLOCK = 1 << BLOCK_SHIFT, GRANULES = BLOCK / GRANULE };

/* Kinds of accesses, and which of them conflict. */
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

/* As long as all accesses are to all of its bytes, they are kept once. */
struct block {
    uint64_t number; /* address >> BLOCK_SHIFT */
    struct granule whole;
    struct granule *granules; /* NULL: `whole` stands for each */
};

struct lock_set {
    struct dh_lock_hold *at;
    size_t n;
};

/* The lock set of a thread as long as `section` is its number of changes. */
struct section {
    uint64_t section;
    uint32_t locks;
};

struct hit {
    struct access before;
    uint64_t addr, size;
};

struct race {
    struct dh_run_state *run;
    struct dh_happens *happens;
    struct dh_u64_map blocks; /* by number */
    DH_VEC(struct lock_set) lock_sets;
    struct dh_index lock_index;
    DH_VEC(struct section) sections; /* by thread */
    DH_VEC(struct hit) hits;         /* of the access now */
    struct dh_reported_pairs reported;
};

const struct dh_detector dh_detector_race;

/* ---- memory ---- */

static struct block *block_at(struct race *r, uint64_t number)
{
    struct dh_u64_entry *entry = dh_u64_map_entry(&r->blocks, number);
    struct block *b = entry->pointer;
    if (!b) {
        entry->pointer = b = DH_NEW(struct block);
        b->number = number;
    }
    return b;
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
        h = dh_hash_combine(dh_hash_combine(h, (uint64_t)at[i].id << 1 | at[i].shared), at[i].site);
    return h;
}

static bool same_held(const struct dh_lock_hold *a, const struct dh_lock_hold *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i].id != b[i].id || a[i].shared != b[i].shared || a[i].site != b[i].site)
            return false;
    return true;
}

static uint32_t find_lock_set(struct race *r, const struct dh_lock_hold *at, size_t n)
{
    uint64_t hash = hash_held(at, n);
    struct dh_probe p = dh_index_probe(&r->lock_index, hash);
    for (uint32_t i; (i = dh_index_next(&r->lock_index, &p)) != DH_ABSENT;)
        if (r->lock_sets.at[i].n == n && same_held(r->lock_sets.at[i].at, at, n))
            return i;
    struct lock_set set = {.at = dh_xcalloc(n, sizeof *at), .n = n};
    for (size_t i = 0; i < n; i++)
        set.at[i] = at[i];
    dh_index_add(&r->lock_index, hash, (uint32_t)r->lock_sets.n);
    dh_vec_push(&r->lock_sets, set);
    return (uint32_t)r->lock_sets.n - 1;
}

static uint32_t locks_of(struct race *r, uint32_t thread)
{
    const struct dh_run_thread *t = dh_run_thread(r->run, thread);
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

/* Every later access that races with `old` races with `new`, too, if `old` is before `new`. */
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
        DH_GROW_ARRAY(g->at, g->cap);
    }
    g->at[g->n++] = *a;
}

static void check_granule(struct race *r, struct granule *g, uint64_t at, unsigned scale, const struct access *a)
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

/* The thread did the same there before in this epoch. */
static bool repeats(const struct granule *g, const struct access *a)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (g->at[i].thread == a->thread && g->at[i].time == a->time && g->at[i].kind == a->kind &&
            !(a->mask & ~g->at[i].mask))
            return true;
    return false;
}

/* ---- reporting ---- */

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

static void report(struct race *r, const struct hit *h, const struct access *now)
{
    struct dh_suspect both[] = {suspect(r, now, h->addr, h->size), suspect(r, &h->before, h->addr, h->size)};
    struct dh_suspicion s = {.kind = DH_FINDING_RACE,
                             .level = DH_LEVEL_OBSERVED,
                             .addr = h->addr,
                             .size = h->size,
                             .suspects = both,
                             .n_suspects = 2,
                             .text = "nothing in this run orders the two accesses"};
    dh_run_report(r->run, &dh_detector_race, &s);
}

static struct dh_reported_access side_of(const struct access *a)
{
    return (struct dh_reported_access){a->site, a->op};
}

/* The races of one access, but for pairs of places that were reported before. */
static void report_hits(struct race *r, const struct access *now)
{
    size_t n = 0;
    for (size_t i = 0; i < r->hits.n; i++) {
        const struct hit *h = &r->hits.at[i];
        if (!dh_reported_pairs_has(&r->reported, side_of(&h->before), side_of(now), h->addr / GRANULE))
            r->hits.at[n++] = *h;
    }
    for (size_t i = 0; i < n; i++) {
        const struct hit *h = &r->hits.at[i];
        dh_reported_pairs_add(&r->reported, side_of(&h->before), side_of(now), h->addr / GRANULE);
        report(r, h, now);
    }
    r->hits.n = 0;
}

/* ---- events ---- */

static void touch_one(struct race *r, struct granule *g, uint64_t at, unsigned scale, const struct access *a)
{
    if (!repeats(g, a))
        check_granule(r, g, at, scale, a);
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
    report_hits(r, a);
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

/* An atomic is after what it acquires; what it releases includes the operation itself. */
static void atomic(struct race *r, const struct dh_event *e)
{
    struct access a = access_of(r, e, dh_event_atomic_wrote(e) ? ATOMIC_WRITES : ATOMIC_READS, dh_event_atomic_op(e));
    dh_happens_event(r->happens, e);
    touch(r, &a, e->addr, dh_event_atomic_size(e));
}

static int by_number(const void *a, const void *b)
{
    const struct block *x = *(struct block *const *)a, *y = *(struct block *const *)b;
    return (x->number > y->number) - (x->number < y->number);
}

typedef DH_VEC(struct block *) block_list;

/* Blocks of the range that were accessed, by address. */
static void list_blocks(struct race *r, uint64_t addr, uint64_t size, block_list *out)
{
    uint64_t first = addr >> BLOCK_SHIFT, last = (addr + size - 1) >> BLOCK_SHIFT;
    if (!size || last < first)
        return;
    if (last - first < r->blocks.n) {
        for (uint64_t number = first; number <= last; number++) {
            uint32_t i = dh_u64_map_seek(&r->blocks, number);
            if (i != DH_ABSENT)
                dh_vec_push(out, r->blocks.at[i].pointer);
        }
        return;
    }
    for (uint32_t i = 0; i < r->blocks.n; i++) /* a large mapping, few accesses */
        if (r->blocks.at[i].key >= first && r->blocks.at[i].key <= last)
            dh_vec_push(out, r->blocks.at[i].pointer);
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, by_number);
}

/* Freeing a block is like writing all of it. */
static void check_freed(struct race *r, const struct dh_event *e, const block_list *blocks)
{
    struct access a = access_of(r, e, WRITES, DH_OP_FREE);
    a.flags = 0;
    for (size_t i = 0; i < blocks->n; i++) {
        uint64_t start = blocks->at[i]->number << BLOCK_SHIFT, end = e->addr + e->arg;
        uint64_t from = e->addr > start ? e->addr : start, to = end - start < BLOCK ? end : start + BLOCK;
        touch_block(r, blocks->at[i], &a, from, to - from);
    }
    report_hits(r, &a);
}

static void forget_block(struct race *r, struct block *b, uint64_t addr, uint64_t size)
{
    uint64_t start = b->number << BLOCK_SHIFT;
    if (start >= addr && addr + size - start >= BLOCK) {
        dh_u64_map_remove(&r->blocks, b->number);
        free_block(b);
        return;
    }
    split(b);
    for (size_t k = 0; k < GRANULES; k++) {
        uint64_t granule = start + k * GRANULE;
        struct granule *g = &b->granules[k];
        if (granule + GRANULE <= addr || granule >= addr + size)
            continue;
        for (uint32_t i = 0; i < g->n; i++)
            g->at[i].mask &= (uint8_t)~mask_of(granule, addr, size);
        drop_empty(g);
    }
}

/* An object begins or ends: accesses to what was there before do not count any more. */
static void memory(struct race *r, const struct dh_event *e)
{
    block_list blocks = {0};
    list_blocks(r, e->addr, e->arg, &blocks);
    if (e->kind == DH_EVENT_FREE && e->flags == DH_MEMORY_HEAP)
        check_freed(r, e, &blocks);
    for (size_t i = 0; i < blocks.n; i++)
        forget_block(r, blocks.at[i], e->addr, e->arg);
    dh_vec_release(&blocks);
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

static void *begin_detector(struct dh_run_state *w, const struct dh_detector_options *o, const char **why)
{
    struct race *r = DH_NEW(struct race);
    (void)o;
    (void)why;
    r->run = w;
    r->happens = dh_happens_new(DH_EDGES_ALL);
    return r;
}

static void release(void *self)
{
    struct race *r = self;
    for (uint32_t i = 0; i < r->blocks.n; i++)
        free_block(r->blocks.at[i].pointer);
    for (size_t i = 0; i < r->lock_sets.n; i++)
        free(r->lock_sets.at[i].at);
    dh_u64_map_release(&r->blocks);
    dh_index_release(&r->lock_index);
    dh_reported_pairs_release(&r->reported);
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
    .begin = begin_detector,
    .event = event,
    .release = release,
};
