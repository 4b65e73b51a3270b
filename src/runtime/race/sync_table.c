#include "runtime/race/sync_table.h"

#include "base/hash.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/spin.h"
#include "runtime/race/thread_slots.h"

enum { BUCKET_BITS = 16, BUCKETS = 1 << BUCKET_BITS, LINE = 64, GRAIN = 8 };

struct dh_sync_bucket {
    dh_spin lock;
    struct dh_sync_object *_Atomic first;
    _Atomic uint64_t version;
    _Atomic uint32_t waiting; /* threads that wait for the lock */
    bool mixed;               /* atomic operations of different sizes overlapped; under the lock */
};

static struct dh_sync_bucket buckets[BUCKETS];

/* Number of objects by stretch of memory, hashed: most freed memory has none. */
enum { STRETCH_BITS = 14, STRETCHES = 1 << 14 };
static _Atomic uint32_t populated[STRETCHES];

static _Atomic uint32_t *population_of(uintptr_t addr)
{
    return &populated[addr >> STRETCH_BITS & (STRETCHES - 1)];
}

/* Addresses of a cache line share a bucket, so that freed memory is searched line by line. */
static struct dh_sync_bucket *bucket_of(uintptr_t addr)
{
    return &buckets[dh_hash_multiply(addr / LINE) >> (64 - BUCKET_BITS)];
}

void dh_sync_clock_clear(struct dh_sync_clock **c)
{
    if (*c)
        dh_free(*c, sizeof(uint32_t) * (2 + (*c)->capacity));
    *c = NULL;
}

static void reset_clocks(struct dh_sync_object *o)
{
    dh_sync_clock_clear(&o->clock);
    dh_sync_clock_clear(&o->readers);
    o->generation = dh_slots_generation();
}

static struct dh_sync_object *make_object(struct dh_sync_bucket *b, uintptr_t addr)
{
    struct dh_sync_object *o = dh_alloc(sizeof *o);
    if (!o)
        return NULL;
    *o = (struct dh_sync_object){.addr = addr, .bucket = b, .generation = dh_slots_generation()};
    o->next = b->first;
    b->first = o;
    atomic_fetch_add_explicit(population_of(addr), 1, memory_order_relaxed);
    return o;
}

/* Waiting threads go first. Otherwise the last holder would mostly win, its successive operations would become atomic
 * in effect, and races with what other threads do in between would not happen. */
static void lock_bucket(struct dh_sync_bucket *b)
{
    (void)DH_SPIN_UNTIL(!atomic_load_explicit(&b->waiting, memory_order_relaxed));
    if (dh_spin_try(&b->lock))
        return;
    atomic_fetch_add_explicit(&b->waiting, 1, memory_order_relaxed);
    dh_spin_lock(&b->lock);
    atomic_fetch_sub_explicit(&b->waiting, 1, memory_order_relaxed);
}

struct dh_sync_object *dh_sync_object_lock(uintptr_t addr, bool make)
{
    struct dh_sync_bucket *b = bucket_of(addr);
    if (!make && !b->first)
        return NULL;
    lock_bucket(b);
    struct dh_sync_object *o = b->first;
    while (o && o->addr != addr)
        o = o->next;
    if (!o && make)
        o = make_object(b, addr);
    if (!o)
        dh_spin_unlock(&b->lock);
    else if (o->generation != dh_slots_generation())
        reset_clocks(o);
    return o;
}

static bool shares_bytes(uintptr_t a, unsigned a_size, uintptr_t b, unsigned b_size)
{
    return b_size && (b - a < a_size || a - b < b_size);
}

/* Have operations of different sizes met? */
static bool meets_others(const struct dh_sync_object *o)
{
    for (const struct dh_sync_object *p = o->bucket->first; p; p = p->next)
        if (p != o && shares_bytes(o->addr, o->span, p->addr, p->span))
            return true;
    return false;
}

void dh_sync_object_widen(struct dh_sync_object *o, unsigned size, bool stores)
{
    uint8_t most = (uint8_t)(size < UINT8_MAX ? size : UINT8_MAX);
    if (stores && o->size < most)
        o->size = most;
    if (o->span >= most)
        return;
    o->span = most;
    o->bucket->mixed |= meets_others(o);
}

static struct dh_sync_object *find_overlapping(struct dh_sync_object *from, const struct dh_sync_object *o,
                                               unsigned size)
{
    for (; from; from = from->next)
        if (from != o && shares_bytes(o->addr, size, from->addr, from->size))
            return from;
    return NULL;
}

struct dh_sync_object *dh_sync_object_overlapping(const struct dh_sync_object *o, unsigned size,
                                                  const struct dh_sync_object *last)
{
    if (!o->bucket->mixed)
        return NULL;
    struct dh_sync_object *found = find_overlapping(last ? last->next : o->bucket->first, o, size);
    if (found && found->generation != dh_slots_generation())
        reset_clocks(found);
    return found;
}

const _Atomic uint64_t *dh_sync_object_version(const struct dh_sync_object *o)
{
    return &o->bucket->version;
}

/* Under the lock: no other thread writes it. */
static void set_version(struct dh_sync_bucket *b, uint64_t version)
{
    atomic_store_explicit(&b->version, version, memory_order_release);
}

void dh_sync_object_begin_change(struct dh_sync_object *o)
{
    set_version(o->bucket, atomic_load_explicit(&o->bucket->version, memory_order_relaxed) | 1);
}

static void end_change(struct dh_sync_bucket *b)
{
    set_version(b, (atomic_load_explicit(&b->version, memory_order_relaxed) | 1) + 1);
}

void dh_sync_object_unlock(struct dh_sync_object *o)
{
    end_change(o->bucket);
    dh_spin_unlock(&o->bucket->lock);
}

void dh_sync_object_unlock_unchanged(struct dh_sync_object *o)
{
    dh_spin_unlock(&o->bucket->lock);
}

struct dh_clock *dh_sync_clock_reserve(struct dh_sync_clock **c, uint32_t n)
{
    if (*c && (*c)->capacity >= n)
        return &(*c)->clock;
    uint32_t capacity = (n + GRAIN - 1) / GRAIN * GRAIN;
    struct dh_sync_clock *fresh = dh_alloc(sizeof(uint32_t) * (2 + capacity));
    if (!fresh)
        return NULL;
    fresh->capacity = capacity;
    fresh->clock.n = 0;
    if (*c)
        dh_vclock_copy(&fresh->clock, &(*c)->clock);
    dh_sync_clock_clear(c);
    *c = fresh;
    return &fresh->clock;
}

static void remove_in_bucket(struct dh_sync_bucket *b, uintptr_t addr, size_t size)
{
    if (!b->first)
        return;
    dh_spin_lock(&b->lock);
    struct dh_sync_object *o = b->first, *remaining = NULL;
    while (o) {
        struct dh_sync_object *next = o->next;
        if (o->addr - addr < size) {
            reset_clocks(o);
            atomic_fetch_sub_explicit(population_of(o->addr), 1, memory_order_relaxed);
            dh_free(o, sizeof *o);
        } else {
            o->next = remaining;
            remaining = o;
        }
        o = next;
    }
    b->first = remaining;
    end_change(b);
    dh_spin_unlock(&b->lock);
}

/* Within one stretch. */
static void remove_lines(uintptr_t addr, size_t size)
{
    if (!atomic_load_explicit(population_of(addr), memory_order_relaxed))
        return;
    for (uintptr_t line = addr / LINE; line <= (addr + size - 1) / LINE; line++)
        remove_in_bucket(bucket_of(line * LINE), addr, size);
}

void dh_sync_objects_remove(uintptr_t addr, size_t size)
{
    if (size >> STRETCH_BITS >= STRETCHES) { /* as much as all stretches: visit every object once */
        for (int i = 0; i < BUCKETS; i++)
            remove_in_bucket(&buckets[i], addr, size);
        return;
    }
    for (uintptr_t end = addr + size, next; addr < end; addr = next) {
        next = ((addr >> STRETCH_BITS) + 1) << STRETCH_BITS;
        next = next < end ? next : end;
        remove_lines(addr, next - addr);
    }
}

void dh_sync_table_forked(void)
{
    for (int i = 0; i < BUCKETS; i++) {
        dh_spin_forked(&buckets[i].lock);
        atomic_store_explicit(&buckets[i].waiting, 0, memory_order_relaxed);
    }
}
