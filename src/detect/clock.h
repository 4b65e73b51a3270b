/* Vector clocks over slots. Layer: detect. Entries at or above n are 0. Fixed storage, owned by the holder.
 * Not thread-safe: the caller orders access. */
#ifndef DH_DETECT_CLOCK_H
#define DH_DETECT_CLOCK_H

#include "detect/epoch.h"

/* Part of a path that must not call anything. */
#define DH_ALWAYS_INLINE static inline __attribute__((always_inline))

struct dh_clock {
    uint32_t n;
    uint32_t at[DH_SLOTS];
};

static inline uint32_t dh_clock_get(const struct dh_clock *c, unsigned slot)
{
    return slot < c->n ? c->at[slot] : 0;
}

static inline void dh_clock_set(struct dh_clock *c, unsigned slot, uint32_t value)
{
    while (c->n <= slot)
        c->at[c->n++] = 0;
    c->at[slot] = value;
}

/* to := max(to, from) */
static inline void dh_clock_join(struct dh_clock *to, const struct dh_clock *from)
{
    while (to->n < from->n)
        to->at[to->n++] = 0;
    for (uint32_t i = 0; i < from->n; i++)
        to->at[i] = to->at[i] > from->at[i] ? to->at[i] : from->at[i];
}

static inline void dh_clock_copy(struct dh_clock *to, const struct dh_clock *from)
{
    to->n = from->n;
    for (uint32_t i = 0; i < from->n; i++)
        to->at[i] = from->at[i];
}

/* The access at that epoch happens before whoever has this clock. */
static inline bool dh_clock_covers(const struct dh_clock *c, uint32_t epoch)
{
    return dh_epoch_clock(epoch) <= dh_clock_get(c, dh_epoch_slot(epoch));
}

#endif
