/* Objects through which threads are ordered, by address. Layer: runtime. A bucket's lock guards its objects, which
 * may be used only between lock and unlock, by a thread inside the detector (race_state.h: busy). */
#ifndef DH_RUNTIME_RACE_SYNC_TABLE_H
#define DH_RUNTIME_RACE_SYNC_TABLE_H

#include "detect/clock.h"

#include <stdbool.h>
#include <stddef.h>

struct dh_sync_bucket;

/* A vector clock that is only as long as it must be; NULL = nothing. */
struct dh_sync_clock {
    uint32_t capacity;
    struct dh_clock clock; /* `capacity` entries of it are there */
};

struct dh_sync_object {
    struct dh_sync_object *next;
    uintptr_t addr;
    struct dh_sync_bucket *bucket;
    uint32_t generation;           /* of the world its clocks are of */
    struct dh_sync_clock *clock;   /* of who released last, or of all that did */
    bool is_lock;                  /* has been taken and given */
    uint8_t intended;              /* so many bytes from here on are meant to race, or 0 */
    struct dh_sync_clock *readers; /* of shared holders, which only an exclusive one waits for */
};

/* The object at `addr`, its bucket locked; NULL, and nothing locked, when there is none and `make` is false, or no
 * memory. */
struct dh_sync_object *dh_sync_object_lock(uintptr_t addr, bool make);
void dh_sync_object_unlock(struct dh_sync_object *o);
/* Nothing was changed, or released to it. */
void dh_sync_object_unlock_unchanged(struct dh_sync_object *o);
/* Of the object and its neighbours: another after every change, odd while the value of an atomic variable changes. */
const _Atomic uint64_t *dh_sync_object_version(const struct dh_sync_object *o);
void dh_sync_object_begin_change(struct dh_sync_object *o);
/* Room for a clock of n entries; NULL when there is no memory. */
struct dh_clock *dh_sync_clock_reserve(struct dh_sync_clock **c, uint32_t n);
static inline const struct dh_clock *dh_sync_clock_of(const struct dh_sync_clock *c)
{
    return c ? &c->clock : NULL;
}
void dh_sync_clock_clear(struct dh_sync_clock **c);
/* Removes what lies in the range. */
void dh_sync_objects_remove(uintptr_t addr, size_t size);
/* In a forked child: no thread but this one is left that could hold a bucket. */
void dh_sync_table_forked(void);

#endif
