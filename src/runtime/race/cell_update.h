/* Fast path of the shadow cells (FastTrack): accesses where all earlier ones happen before, so that the new cell
 * follows from the old one without a shadow line. Layer: runtime. Inside enter/leave, or its equivalent in race/fast.c.
 * Lock-free. */
#ifndef DH_RUNTIME_RACE_CELL_UPDATE_H
#define DH_RUNTIME_RACE_CELL_UPDATE_H

#include "runtime/race/race_state.h"

struct dh_cell_update {
    dh_cell old, now;
};

/* The epoch happens before the calling thread's, or there is none. Entries beyond a clock's end are 0. */
DH_ALWAYS_INLINE bool dh_epoch_is_ordered(const struct dh_clock *now, uint32_t epoch)
{
    return dh_epoch_clock(epoch) <= now->at[dh_epoch_slot(epoch)];
}

/* The new cell; false: a race, or a shadow line is needed. An index of a shadow line is never ordered. */
DH_ALWAYS_INLINE bool dh_cell_compute_update(const struct dh_race_state *s, dh_cell old, unsigned mask, bool write,
                                             struct dh_cell_update *next)
{
    uint32_t read = dh_cell_read(old), wrote = dh_cell_write(old), time = s->t.time;
    if (!dh_epoch_is_ordered(&s->t.clock, read) || !dh_epoch_is_ordered(&s->t.clock, wrote) || dh_epoch_is_index(wrote))
        return false;
    uint32_t new_read, new_write = wrote;
    if (mask == DH_MASK_ALL) {
        new_read = dh_epoch_with(time, mask);
        new_write = write ? new_read : wrote;
    } else {
        new_read = dh_race_half_after(read, wrote, time, mask);
        if (write)
            new_write = dh_race_half_after(wrote, 0, time, mask);
    }
    next->old = old;
    next->now = dh_cell_of(new_read, new_write);
    return new_read && (!write || new_write);
}

DH_ALWAYS_INLINE bool dh_cell_is_own(uint32_t time, dh_cell c)
{
    uint32_t slot = time >> DH_CLOCK_BITS, slots = DH_SLOTS - 1;
    return (dh_cell_read(c) >> DH_CLOCK_BITS & slots) == slot && (dh_cell_write(c) >> DH_CLOCK_BITS & slots) == slot;
}

#define DH_BOTH_HALVES(x) ((uint64_t)(x) << 32 | (x))

/* All cells of an aligned access of 4 or 8 bytes hold the same earlier epoch of this thread for all bytes: the
 * commonest case. `own` is the cell of the present epoch. */
DH_ALWAYS_INLINE bool dh_cells_are_private(const dh_cell *cell, dh_cell old, dh_cell own, unsigned size)
{
    return !((old ^ own) & DH_BOTH_HALVES(0xFFF00000u)) &&
           (size != 8 || __atomic_load_n(&cell[1], __ATOMIC_RELAXED) == old);
}

DH_ALWAYS_INLINE void dh_cells_store_private(dh_cell *cell, dh_cell old, dh_cell own, unsigned size, bool write)
{
    dh_cell now = write ? own : (old & ~(uint64_t)UINT32_MAX) | (uint32_t)own;
    __atomic_store_n(cell, now, __ATOMIC_RELAXED);
    if (size == 8)
        __atomic_store_n(&cell[1], now, __ATOMIC_RELAXED);
}

/* A read after a read by the same thread changes the read half only. */
DH_ALWAYS_INLINE bool dh_cell_repeats_read(uint32_t time, struct dh_cell_update next)
{
    return dh_cell_write(next.old) == dh_cell_write(next.now) &&
           (dh_cell_read(next.old) >> DH_CLOCK_BITS & (DH_SLOTS - 1)) == time >> DH_CLOCK_BITS;
}

DH_ALWAYS_INLINE bool dh_cell_store(const struct dh_race_state *s, dh_cell *cell, struct dh_cell_update next)
{
    if (__builtin_expect(dh_cell_is_own(s->t.time, next.old), 1)) {
        __atomic_store_n(cell, next.now, __ATOMIC_RELAXED);
        return true;
    }
    if (dh_cell_repeats_read(s->t.time, next)) {
        __atomic_store_n((uint32_t *)cell, dh_cell_read(next.now), __ATOMIC_RELAXED);
        return true;
    }
    return __atomic_compare_exchange_n(cell, &next.old, next.now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* As dh_cells_store, for cells that had equal values. */
DH_ALWAYS_INLINE bool dh_cells_store_equal(const struct dh_race_state *s, dh_cell *cell, struct dh_cell_update next,
                                           size_t n)
{
    bool ok = true;
    if (dh_cell_is_own(s->t.time, next.old)) {
        for (size_t i = 0; i < n; i++)
            __atomic_store_n(&cell[i], next.now, __ATOMIC_RELAXED);
        return true;
    }
    for (size_t i = 0; i < n; i++)
        ok = dh_cell_store(s, &cell[i], next) && ok;
    return ok;
}

/* False: another thread changed a cell meanwhile; the access is checked again in full. */
DH_ALWAYS_INLINE bool dh_cells_store(const struct dh_race_state *s, dh_cell *cell, const struct dh_cell_update *next,
                                     unsigned n)
{
    bool ok = true;
    for (unsigned i = 0; i < n; i++)
        ok = dh_cell_store(s, &cell[i], next[i]) && ok;
    return ok;
}

#endif
