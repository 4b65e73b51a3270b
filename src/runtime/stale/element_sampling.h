/* Which elements of arrays are looked at: those whose address has the bits of `want` where `mask` has bits. Layer:
 * runtime; also compiled into programs. */
#ifndef DH_RUNTIME_STALE_ELEMENT_SAMPLING_H
#define DH_RUNTIME_STALE_ELEMENT_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/* Is there one among `size` bytes from here? The first address that is none too low: where it differs from `want` in a
 * bit that is wanted it goes up to it, where in one that is not it must become larger above. */
static inline bool dh_stale_is_any_sampled(uint64_t mask, uint64_t want, uint64_t from, uint64_t size)
{
    uint64_t other = (from & mask) ^ want;
    if (!other)
        return true;
    uint64_t low = ((uint64_t)2 << (63 - __builtin_clzll(other))) - 1, next;
    if (want & other & ~(low >> 1))
        next = (from & ~low) | (want & low);
    else
        next = (((from | mask | low) + 1) & ~mask) | want;
    return next > from && next - from < size;
}

#endif
