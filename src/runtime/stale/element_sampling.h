/* Sampling of array elements: an element is served if (address & mask) == want. Layer: runtime; also compiled into
 * programs. Pure. */
#ifndef DH_RUNTIME_STALE_ELEMENT_SAMPLING_H
#define DH_RUNTIME_STALE_ELEMENT_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/* Is there a sampled address within `size` bytes? Computes the lowest one that is at least `from`: if `want` has the
 * highest differing bit, that bit is set and the lower ones are those of `want`; otherwise the unmasked bits above are
 * incremented. */
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
