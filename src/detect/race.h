/* Happens-before races by epochs (FastTrack, Flanagan and Freund 2009), exact to the byte. Layer: detect.
 *
 * A shadow cell holds the last write and the last read of one granule (four bytes) as long as one epoch each can say
 * it. A write stores its epoch in both halves, so that one comparison finds a repeated access of either kind. What does
 * not fit (concurrent readers, bytes with different histories, atomics, races) is kept by the granule's shadow line
 * (shadow_lines.h), which is exact; a granule leaves it when one write covers it and is ordered after everything.
 *
 * The caller has a dh_race_thread for every thread and provides the cells, those of a line together and aligned.
 * Several threads may work on one cell at once: a cell whose epochs are the thread's own is stored plainly, any other
 * by compare-and-swap (plain stores everywhere lose races of simultaneous accesses). */
#ifndef DH_DETECT_RACE_H
#define DH_DETECT_RACE_H

#include "detect/clock.h"
#include "detect/shadow_lines.h"

#include <stddef.h>

typedef uint64_t dh_cell; /* read in the low half, write in the high half; or 0 and the index of a line */

enum { DH_CELLS = 16 }; /* of a line */

static inline uint32_t dh_cell_read(dh_cell c)
{
    return (uint32_t)c;
}
static inline uint32_t dh_cell_write(dh_cell c)
{
    return (uint32_t)(c >> 32);
}
static inline dh_cell dh_cell_of(uint32_t read, uint32_t write)
{
    return (dh_cell)write << 32 | read;
}
static inline bool dh_cell_is_line(dh_cell c)
{
    return dh_epoch_is_index(dh_cell_write(c));
}
static inline uint32_t dh_cell_line(dh_cell c)
{
    return dh_cell_write(c) & ~DH_EPOCH_INDEX;
}

/* One race: the access now and the earlier one it is not ordered after. */
struct dh_race_hit {
    uintptr_t addr;     /* first byte they share */
    uint64_t bytes;     /* all that they share, from there */
    bool writes, wrote; /* now, before */
    bool atomic, was_atomic;
    uint32_t before; /* slot and clock of the earlier access */
    uint32_t place;  /* of the access now */
};

struct dh_race_thread {
    uint32_t time;   /* slot and clock: the current epoch without mask */
    bool dirty;      /* something was accessed in this epoch */
    uint32_t serial; /* differs for each thread that has the slot */
    struct dh_clock clock;
};

struct dh_race {
    struct dh_shadow_lines lines;
    uint64_t lost; /* accesses not recorded because a table was full */
    void (*lock)(void);
    void (*unlock)(void); /* around lines; NULL when only one thread works */
    void (*report)(struct dh_race_thread *t, const struct dh_race_hit *hit);
    /* Resolves a wide epoch: the last reads (or writes) of the granule's bytes up to that time by its thread, as times
     * and masks of the granule; returns how many, at most four. */
    unsigned (*explain)(uint32_t time, uintptr_t granule, bool writes, struct dh_line_access pairs[4]);
};

void dh_race_init(struct dh_race *r, void *(*allocate)(size_t n), uint32_t cap_lines);
/* All cells are empty again. */
void dh_race_reset(struct dh_race *r);

struct dh_checked_access {
    uintptr_t addr;
    size_t size;
    enum dh_access_kind kind;
    uint32_t place;
    bool added; /* to its column already (dh_column_read), but the other columns have not been checked */
};
/* `cell` is that of the first granule; those of the others follow. */
void dh_race_record(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell, const struct dh_checked_access *access);
/* A repeated access in one epoch changes nothing. */
static inline bool dh_race_repeats(const struct dh_race_thread *t, uint32_t half, unsigned mask)
{
    uint32_t want = dh_epoch_with(t->time, mask);
    return (half & (DH_EPOCH_TIME | (uint32_t)mask << DH_MASK_SHIFT)) == want;
}
/* What an access now makes of a half; 0: a shadow line is needed. `other` is the cell's other half: what both have need
 * not be kept in this one. */
DH_ALWAYS_INLINE uint32_t dh_race_half_after(uint32_t half, uint32_t other, uint32_t time, unsigned mask)
{
    unsigned old = dh_epoch_mask(half);
    bool same = (half & DH_EPOCH_TIME) == time, wide = dh_epoch_is_wide(half);
    if (!wide && !(old & ~mask))
        return dh_epoch_with(time, mask);
    if (!wide && same)
        return dh_epoch_with(time, mask | old);
    if (mask == DH_MASK_ALL || (half == other && !wide))
        return dh_epoch_with(time, mask);
    return dh_epoch_slot(half) == dh_epoch_slot(time) ? time : 0;
}
/* The granule belongs to a new object: accesses to the old one do not count. */
void dh_race_forget(struct dh_race *r, dh_cell *cell, uintptr_t granule);

/* Synchronisation. What a thread did before a release is ordered before an acquire; what it does later is not, so a
 * release ends the epoch. An epoch without accesses goes on: the one before is released. */
static inline void dh_race_acquire(struct dh_race_thread *t, const struct dh_clock *from)
{
    dh_vclock_join(&t->clock, from);
}
/* to := the thread's clock (a mutex: its owner has acquired all of `to`). */
void dh_race_release(struct dh_race_thread *t, struct dh_clock *to);
/* to := to joined with the thread's clock (a semaphore, a read lock, an atomic). */
void dh_race_release_join(struct dh_race_thread *t, struct dh_clock *to);

#endif
