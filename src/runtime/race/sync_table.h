/* Synchronisation objects (locks, atomics, conditions) with their vector clocks, by address. Layer: runtime. A hash
 * table with a lock for each bucket; an object may be used only between lock and unlock, by a thread inside the
 * detector (race_state.h: busy). */
#ifndef DH_RUNTIME_RACE_SYNC_TABLE_H
#define DH_RUNTIME_RACE_SYNC_TABLE_H

#include "detect/clock.h"

#include <stdbool.h>
#include <stddef.h>

struct dh_sync_bucket;

/* A vector clock with as many entries as it needs; NULL: all zero. */
struct dh_sync_clock {
    uint32_t capacity;
    struct dh_clock clock; /* only `capacity` entries are allocated */
};

struct dh_sync_object {
    struct dh_sync_object *next;
    uintptr_t addr;
    struct dh_sync_bucket *bucket;
    uint32_t generation;           /* of the clocks (dh_slots_generation) */
    struct dh_sync_clock *clock;   /* of the last release, or the join of several */
    bool is_lock;                  /* was released as a lock */
    uint8_t size;                  /* of the widest atomic store to it, */
    uint8_t span;                  /* and of the widest atomic operation on it */
    uint8_t benign;                /* bytes from here on where races are declared benign, or 0 */
    struct dh_sync_clock *readers; /* of releases by shared holders: only an exclusive holder acquires it */
};

/* The fences of a thread (C11 7.17.4). */
struct dh_fences {
    struct dh_clock release; /* what the thread knew at its last release fence */
    struct dh_clock acquire; /* what relaxed loads read, for an acquire fence to come */
    bool has_release, has_acquire;
};

/* The object at `addr`, its bucket locked; NULL, and nothing locked, when there is none and `make` is false, or no
 * memory. */
struct dh_sync_object *dh_sync_object_lock(uintptr_t addr, bool make);
void dh_sync_object_unlock(struct dh_sync_object *o);
/* The same, if its value and clocks were not changed. */
void dh_sync_object_unlock_unchanged(struct dh_sync_object *o);
/* An atomic operation of that many bytes on the object. Those of different sizes may overlap: a pair of counts that is
 * read as one value. */
void dh_sync_object_widen(struct dh_sync_object *o, unsigned size, bool stores);
/* The next atomic object that shares bytes with the `size` of `o`; `last` is NULL at first. */
struct dh_sync_object *dh_sync_object_overlapping(const struct dh_sync_object *o, unsigned size,
                                                  const struct dh_sync_object *last);
/* Version of the objects of a bucket, as in a seqlock: changes with each of them, odd while the value of an atomic
 * variable changes. */
const _Atomic uint64_t *dh_sync_object_version(const struct dh_sync_object *o);
void dh_sync_object_begin_change(struct dh_sync_object *o);
/* Room for a clock of n entries; NULL when there is no memory. */
struct dh_clock *dh_sync_clock_reserve(struct dh_sync_clock **c, uint32_t n);

void dh_sync_clock_clear(struct dh_sync_clock **c);

/* A relaxed load of the object, which has a clock. */
static inline void dh_fences_load(struct dh_fences *f, const struct dh_sync_object *o)
{
    if (!f->has_acquire)
        f->acquire.n = 0;
    f->has_acquire = true;
    dh_vclock_join(&f->acquire, &o->clock->clock);
}

/* A relaxed store or read-modify-write of the object publishes what a release fence before it released. */
static inline void dh_fences_store(const struct dh_fences *f, struct dh_sync_object *o)
{
    struct dh_clock *to = f->has_release ? dh_sync_clock_reserve(&o->clock, f->release.n) : NULL;
    if (to)
        dh_vclock_join(to, &f->release);
}

/* An acquire fence of the thread with that clock. */
static inline void dh_fences_acquire(struct dh_fences *f, struct dh_clock *clock)
{
    if (f->has_acquire)
        dh_vclock_join(clock, &f->acquire);
    f->has_acquire = false;
}

/* Removes what lies in the range. */
void dh_sync_objects_remove(uintptr_t addr, size_t size);
/* In a forked child: no thread but this one is left that could hold a bucket. */
void dh_sync_table_forked(void);

#endif
