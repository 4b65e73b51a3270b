/* Epochs (FastTrack): which thread accessed which bytes of a granule at which time, in 32 bits. Layer: detect.
 * mask(4) | slot(8) | clock(20). A granule is four aligned bytes; the mask says which of them. Slots name threads
 * and are reused. Mask 0 is none of these: 0 = never; with the top bit of the slot, the index of a shadow line
 * (shadow_lines.h); otherwise a wide epoch: its thread accessed some of the bytes at that time and others before, and
 * only its history knows which. */
#ifndef DH_DETECT_EPOCH_H
#define DH_DETECT_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DH_SLOTS = 256,     /* that fit into an epoch */
    DH_LAST_SLOT = 127, /* that a thread may have; 0 is unused */
    DH_CLOCK_BITS = 20,
    DH_CLOCK_MAX = (1 << DH_CLOCK_BITS) - 1,
    DH_MASK_SHIFT = 28,
    DH_MASK_ALL = 0xF
};
#define DH_EPOCH_TIME 0x0FFFFFFFu /* slot and clock */
#define DH_EPOCH_INDEX 0x08000000u

static inline uint32_t dh_epoch(unsigned slot, uint32_t clock)
{
    return (uint32_t)slot << DH_CLOCK_BITS | clock;
}
static inline unsigned dh_epoch_slot(uint32_t e)
{
    return e >> DH_CLOCK_BITS & (DH_SLOTS - 1);
}
static inline uint32_t dh_epoch_clock(uint32_t e)
{
    return e & DH_CLOCK_MAX;
}
static inline unsigned dh_epoch_mask(uint32_t e)
{
    return e >> DH_MASK_SHIFT;
}
static inline uint32_t dh_epoch_with(uint32_t time, unsigned mask)
{
    return (time & DH_EPOCH_TIME) | (uint32_t)mask << DH_MASK_SHIFT;
}
static inline bool dh_epoch_is_index(uint32_t e)
{
    return e >> (DH_MASK_SHIFT - 1) == 1;
}
static inline bool dh_epoch_is_wide(uint32_t e)
{
    return e && e < DH_EPOCH_INDEX;
}

#endif
