/* Vector clocks (base/vclock.h) over thread slots, in storage of their own. Layer: detect. Not thread-safe: the caller
 * orders access. */
#ifndef DH_DETECT_CLOCK_H
#define DH_DETECT_CLOCK_H

#include "base/vclock.h"
#include "detect/epoch.h"

/* Part of a path that must not call anything. */
#define DH_ALWAYS_INLINE static inline __attribute__((always_inline))

struct dh_clock {
    uint32_t n;
    uint32_t at[DH_SLOTS];
};

/* The access at that epoch happens before what a thread with this clock does. */
static inline bool dh_clock_covers(const struct dh_clock *c, uint32_t epoch)
{
    return dh_epoch_clock(epoch) <= dh_vclock_get(c, dh_epoch_slot(epoch));
}

#endif
