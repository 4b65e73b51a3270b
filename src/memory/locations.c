#include "memory/locations.h"

#include "base/hash.h"

enum { BUCKETS = 64, CELL = 8 };

void dh_locations_init(struct dh_locations *l, struct dh_memory *memory, uint32_t history, uint32_t clocks)
{
    l->arena.memory = memory;
    l->history = history;
    l->clocks = clocks;
}

bool dh_locations_begin(struct dh_locations *l)
{
    dh_run_arena_clear(&l->arena);
    l->root = dh_run_arena_take(&l->arena, sizeof *l->root);
    if (!l->root)
        return false;
    l->root->bucket = dh_run_arena_take(&l->arena, BUCKETS * sizeof *l->root->bucket);
    l->root->buckets = l->root->bucket ? BUCKETS : 0;
    return l->root->bucket;
}

/* Pieces of one cell of eight bytes share a bucket, so that those that overlap are found together. */
static struct dh_location **bucket_of(struct dh_locations *l, uint64_t address)
{
    uint64_t h = dh_hash_multiply(address / CELL);
    return &l->root->bucket[(h >> 32) % l->root->buckets];
}

struct dh_location *dh_location_find(struct dh_locations *l, uint64_t address, unsigned size)
{
    for (struct dh_location *at = *bucket_of(l, address); at; at = at->next)
        if (at->address == address && at->size == size)
            return at;
    return NULL;
}

/* Without memory chains only get longer. */
static void widen(struct dh_locations *l)
{
    struct dh_locations_root *r = l->root;
    if (r->count < 2 * r->buckets)
        return;
    struct dh_location **old = r->bucket, **new = dh_run_arena_take(&l->arena, 4 * r->buckets * sizeof *new);
    uint32_t n = r->buckets;
    if (!new)
        return;
    r->bucket = new;
    r->buckets = 4 * n;
    for (uint32_t i = 0; i < n; i++)
        for (struct dh_location *at = old[i], *next; at; at = next) {
            next = at->next;
            struct dh_location **b = bucket_of(l, at->address);
            at->next = *b;
            *b = at;
        }
}

static struct dh_memory_write *new_write(struct dh_locations *l)
{
    struct dh_memory_write *w = l->root->free_writes;
    size_t size = sizeof *w + l->clocks * sizeof *w->clocks;
    if (!w)
        return dh_run_arena_take(&l->arena, size);
    l->root->free_writes = (struct dh_memory_write *)(uintptr_t)w->before;
    *w = (struct dh_memory_write){0};
    for (uint32_t i = 0; i < l->clocks; i++)
        w->clocks[i] = 0;
    return w;
}

static void free_write(struct dh_locations *l, struct dh_memory_write *w)
{
    w->before = (uint64_t)(uintptr_t)l->root->free_writes;
    l->root->free_writes = w;
}

static struct dh_location *new_location(struct dh_locations *l, uint64_t address, unsigned size)
{
    struct dh_location *at = l->root->free_locations;
    if (at)
        l->root->free_locations = at->next;
    else
        at = dh_run_arena_take(&l->arena, sizeof *at + l->history * sizeof(struct dh_memory_write *));
    if (!at)
        return NULL;
    struct dh_location **b = bucket_of(l, address);
    *at = (struct dh_location){.address = address, .size = (uint8_t)size, .next = *b};
    *b = at;
    l->root->count++;
    return at;
}

static void free_location(struct dh_locations *l, struct dh_location **link)
{
    struct dh_location *at = *link;
    *link = at->next;
    for (uint32_t i = 0; i < at->count; i++)
        free_write(l, at->write[i]);
    at->next = l->root->free_locations;
    l->root->free_locations = at;
    l->root->count--;
}

static struct dh_location *make(struct dh_locations *l, uint64_t address, unsigned size, uint64_t value)
{
    struct dh_memory_write *w = new_write(l);
    if (w)
        widen(l);
    struct dh_location *at = w ? new_location(l, address, size) : NULL;
    if (!at) {
        if (w)
            free_write(l, w);
        return NULL;
    }
    w->value = value;
    w->thread = w->site = w->occurrence = DH_MEMORY_INITIAL;
    at->write[at->count++] = w;
    return at;
}

struct dh_memory_write *dh_location_push(struct dh_locations *l, struct dh_location *at,
                                         const struct dh_memory_access *access, uint64_t value)
{
    struct dh_memory_write *w = new_write(l);
    if (!w)
        return NULL;
    w->value = value;
    w->thread = access->thread;
    w->site = access->site;
    w->occurrence = access->occurrence;
    w->sequence = ++l->root->sequence;
    w->is_plain = access->order == DH_ORDER_NONE;
    w->head = (uint8_t)at->count;
    at->newest = at->count;
    at->write[at->count++] = w;
    at->pushed++;
    return w;
}

void dh_location_drop(struct dh_locations *l, struct dh_location *at, uint32_t index)
{
    free_write(l, at->write[index]);
    at->count--;
    at->newest -= at->newest > index;
    for (uint32_t i = index; i < at->count; i++)
        at->write[i] = at->write[i + 1];
}

/* ---- pieces ---- */

static struct dh_location *covering(struct dh_locations *l, uint64_t address)
{
    for (struct dh_location *at = *bucket_of(l, address); at; at = at->next)
        if (at->address <= address && address < at->address + at->size)
            return at;
    return NULL;
}

static bool any_within(struct dh_locations *l, uint64_t from, uint64_t to)
{
    for (struct dh_location *at = *bucket_of(l, from); at; at = at->next)
        if (at->address >= from && at->address < to)
            return true;
    return false;
}

static unsigned natural(uint64_t address, uint64_t left)
{
    unsigned size = CELL;
    while (address % size || size > left)
        size /= 2;
    return size;
}

static uint64_t part_of(uint64_t value, unsigned skip, unsigned size)
{
    value >>= 8 * skip;
    return size < 8 ? value & ((UINT64_C(1) << 8 * size) - 1) : value;
}

static struct dh_memory_write *half_of(struct dh_locations *l, const struct dh_memory_write *from, unsigned skip,
                                       unsigned size)
{
    struct dh_memory_write *w = new_write(l);
    if (!w)
        return NULL;
    *w = *from;
    for (uint32_t i = 0; i < l->clocks; i++)
        w->clocks[i] = from->clocks[i];
    w->value = part_of(from->value, skip, size);
    return w;
}

/* The upper half becomes a location of its own. Without memory both have no past any more. */
static void split(struct dh_locations *l, struct dh_location *at)
{
    unsigned half = at->size / 2;
    struct dh_location *upper = new_location(l, at->address + half, half);
    for (uint32_t i = 0; upper && i < at->count; i++) {
        struct dh_memory_write *w = half_of(l, at->write[i], half, half);
        if (!w)
            break;
        upper->write[upper->count++] = w;
    }
    if (!upper || upper->count < at->count) {
        dh_locations_forget(l, at->address, at->size);
        return;
    }
    upper->is_narrow = at->is_narrow;
    upper->newest = at->newest;
    at->size = (uint8_t)half;
    for (uint32_t i = 0; i < at->count; i++)
        at->write[i]->value = part_of(at->write[i]->value, 0, half);
}

bool dh_locations_would_split(struct dh_locations *l, uint64_t address, uint64_t size)
{
    for (uint64_t at = address; at < address + size;) {
        struct dh_location *over = covering(l, at);
        if (over && (over->address != at || over->size > address + size - at))
            return true;
        at += over ? over->size : 1;
    }
    return false;
}

unsigned dh_locations_pieces(struct dh_locations *l, uint64_t address, uint64_t size, struct dh_access_piece *out,
                             unsigned room)
{
    unsigned n = 0;
    for (uint64_t at = address, end = address + size; at < end && n < room;) {
        struct dh_location *over = covering(l, at);
        for (; over && (over->address != at || over->size > end - at); over = covering(l, at))
            split(l, over);
        unsigned piece = over ? over->size : natural(at, end - at);
        while (!over && piece > 1 && any_within(l, at, at + piece))
            piece /= 2;
        out[n++] = (struct dh_access_piece){at, (uint8_t)piece};
        at += piece;
    }
    return n;
}

static void forget_in(struct dh_locations *l, struct dh_location **at, uint64_t from, uint64_t to)
{
    while (*at)
        if ((*at)->address < to && from < (*at)->address + (*at)->size)
            free_location(l, at);
        else
            at = &(*at)->next;
}

void dh_locations_forget(struct dh_locations *l, uint64_t address, uint64_t size)
{
    if (!size || !l->root->count)
        return;
    uint64_t first = address / CELL, last = (address + size - 1) / CELL;
    if (last - first < l->root->buckets)
        for (uint64_t cell = first; cell <= last; cell++)
            forget_in(l, bucket_of(l, cell * CELL), address, address + size);
    else
        for (uint32_t i = 0; i < l->root->buckets; i++)
            forget_in(l, &l->root->bucket[i], address, address + size);
}

bool dh_locations_differ(struct dh_locations *l, uint64_t address, unsigned size)
{
    bool differ = false;
    for (struct dh_location *at = *bucket_of(l, address); at; at = at->next) {
        if (at->address == address && at->size == size)
            return false;
        differ |= at->address < address + size && address < at->address + at->size;
    }
    return differ;
}

/* If memory holds another value than the newest write, code outside of the model has written: the history is lost. */
struct dh_location *dh_location_get(struct dh_locations *l, uint64_t address, unsigned size)
{
    struct dh_memory *m = l->arena.memory;
    struct dh_access_piece pieces[CELL];
    struct dh_location *at = dh_location_find(l, address, size);
    if (!at && dh_locations_differ(l, address, size)) {
        dh_locations_pieces(l, address, size, pieces, CELL);
        if (dh_locations_differ(l, address, size))
            dh_locations_forget(l, address, size);
        at = dh_location_find(l, address, size);
    }
    uint64_t value = m->peek(m, address, size);
    if (at && at->write[at->newest]->value == value)
        return at;
    if (at)
        dh_locations_forget(l, address, size);
    return make(l, address, size, value);
}
