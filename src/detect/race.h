/* Happens-before races by epochs (FastTrack, Flanagan and Freund 2009), exact to the byte. Layer: detect.
 *
 * A cell holds the last write and the reads since it of one granule (four bytes). What one epoch can say is said in the
 * cell; what differs between the bytes of a granule moves to a split block with a cell per byte. A write stores its
 * epoch in both halves, so that one comparison finds a repeated access of either kind.
 *
 * The caller gives every thread its own dh_race_thread and brings cells; several threads may work on one cell at once:
 * a cell that is the thread's own is stored plainly, any other by compare-and-swap (plain stores everywhere lose races
 * of accesses that happen at the same moment). */
#ifndef DH_DETECT_RACE_H
#define DH_DETECT_RACE_H

#include "detect/clock.h"
#include "detect/read_sets.h"

#include <stddef.h>

/* read: an epoch, or mask 0 and the index of a read set; write: an epoch, or mask 0 and the index of a split block. */
typedef uint64_t dh_cell; /* read in the low half, write in the high half */

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

/* One race: the access now and the earlier one it is not ordered after. */
struct dh_race_hit {
    uintptr_t addr;     /* first byte they share */
    unsigned mask;      /* bytes of its granule they share */
    bool writes, wrote; /* now, before */
    bool atomic, was_atomic;
    uint32_t before; /* epoch of the earlier access */
    uint32_t place;  /* of the access now */
};

enum { DH_SPARE_SPLITS = 128 };

struct dh_race_thread {
    uint32_t time; /* slot and clock: the current epoch without mask */
    bool dirty;    /* something was accessed in this epoch */
    struct dh_clock clock;
    /* Split blocks to use next, oldest first: one that was given back rests for a while, since another thread may have
     * looked up its index just before. */
    uint32_t spare[DH_SPARE_SPLITS], first_spare, n_spare;
    void *owner; /* the caller's */
};

/* A granule whose bytes differ, or that atomics touched: plain accesses and atomic ones by byte. */
struct dh_split {
    dh_cell byte[4], atomic[4];
};

struct dh_race {
    struct dh_read_sets sets;
    struct dh_split *splits; /* by index; index 0 unused */
    uint32_t n_splits, cap_splits;
    uint32_t free_splits; /* of threads that ended, chained through byte[0] */
    uint64_t lost;        /* accesses not recorded because a table was full */
    void (*lock)(void);
    void (*unlock)(void); /* around sets and splits; NULL when only one thread works */
    void (*report)(struct dh_race_thread *t, const struct dh_race_hit *hit);
};

void dh_race_init(struct dh_race *r, void *(*allocate)(size_t n), uint32_t cap_sets, uint32_t cap_splits);

/* Accesses to the bytes `mask` of the granule at `addr` (its first byte) with cell *cell. */
void dh_race_read(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell, uintptr_t addr, unsigned mask,
                  uint32_t place);
void dh_race_write(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell, uintptr_t addr, unsigned mask,
                   uint32_t place);
/* Atomic accesses race with plain ones only. */
void dh_race_atomic(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell, uintptr_t addr, unsigned mask,
                    uint32_t place, bool writes);
/* A repeated access in one epoch changes nothing. */
static inline bool dh_race_repeats(const struct dh_race_thread *t, uint32_t half, unsigned mask)
{
    uint32_t want = dh_epoch_with(t->time, mask);
    return (half & (DH_EPOCH_TIME | (uint32_t)mask << DH_MASK_SHIFT)) == want;
}
/* The granule holds a new object: nothing of the old one counts. */
void dh_race_forget(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell);
/* The thread ends, or its slot is given up: its spare blocks go back. */
void dh_race_thread_release(struct dh_race *r, struct dh_race_thread *t);

/* Synchronisation. What a thread did before a release is known to whoever acquires; what it does later is not, so a
 * release ends the epoch. An epoch in which nothing was accessed goes on: what is published is the one before. */
static inline void dh_race_acquire(struct dh_race_thread *t, const struct dh_clock *from)
{
    dh_clock_join(&t->clock, from);
}
/* to := the thread's past (a mutex, whose owner knows all that `to` held). */
void dh_race_release(struct dh_race_thread *t, struct dh_clock *to);
/* to := to joined with the thread's past (a semaphore, a read lock, an atomic). */
void dh_race_release_join(struct dh_race_thread *t, struct dh_clock *to);

#endif
