/* Vector clocks over the caller's storage. Layer: base. A clock is any struct with `uint32_t n` and entries `at` (an
 * array or a pointer to uint32_t); entries at or above n are 0. The caller sees to it, before it sets, joins or copies,
 * that `at` has room (see each). No libc, no memory: the runtime and the search use them. Not thread-safe. */
#ifndef DH_BASE_VCLOCK_H
#define DH_BASE_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum dh_vclock_order { DH_VCLOCK_EQUAL, DH_VCLOCK_BEFORE, DH_VCLOCK_AFTER, DH_VCLOCK_CONCURRENT };

/* ---- on a clock ---- */

#define dh_vclock_get(c, thread) dh_entries_get((c)->at, (c)->n, thread)
/* Room for thread + 1. */
#define dh_vclock_set(c, thread, time) dh_entries_set((c)->at, &(c)->n, thread, time)
#define dh_vclock_tick(c, thread) dh_entries_set((c)->at, &(c)->n, thread, dh_vclock_get(c, thread) + 1)
/* As wide as `width` at least, which there is room for. */
#define dh_vclock_widen(c, width) dh_entries_widen((c)->at, &(c)->n, width)
/* to := max(to, from). Room for from->n. */
#define dh_vclock_join(to, from)                                                                                       \
    (dh_entries_widen((to)->at, &(to)->n, (from)->n), dh_entries_max((to)->at, (from)->at, (from)->n))
/* Room for from->n. */
#define dh_vclock_copy(to, from) (dh_entries_copy((to)->at, (from)->at, (from)->n), (void)((to)->n = (from)->n))
#define dh_vclock_clear(c) ((void)((c)->n = 0))
/* No wider than its last entry that is not 0, but `least`. */
#define dh_vclock_trim(c, least) ((void)((c)->n = dh_entries_width((c)->at, (c)->n, least)))
/* All of `a` is known to `b`. */
#define dh_vclock_leq(a, b) dh_entries_leq((a)->at, (a)->n, (b)->at, (b)->n)
#define dh_vclock_compare(a, b) dh_entries_compare((a)->at, (a)->n, (b)->at, (b)->n)

/* ---- on entries, for clocks that lie in a larger array ---- */

static inline uint32_t dh_entries_get(const uint32_t *at, uint32_t n, uint32_t thread)
{
    return thread < n ? at[thread] : 0;
}

static inline void dh_entries_widen(uint32_t *at, uint32_t *n, uint32_t width)
{
    while (*n < width)
        at[(*n)++] = 0;
}

static inline void dh_entries_set(uint32_t *at, uint32_t *n, uint32_t thread, uint32_t time)
{
    dh_entries_widen(at, n, thread + 1);
    at[thread] = time;
}

static inline void dh_entries_max(uint32_t *to, const uint32_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

static inline void dh_entries_copy(uint32_t *to, const uint32_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = from[i];
}

static inline uint32_t dh_entries_width(const uint32_t *at, uint32_t n, uint32_t least)
{
    while (n > least && !at[n - 1])
        n--;
    return n;
}

static inline bool dh_entries_leq(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t b_n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i] > dh_entries_get(b, b_n, i))
            return false;
    return true;
}

static inline enum dh_vclock_order dh_entries_compare(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t b_n)
{
    bool before = dh_entries_leq(a, n, b, b_n), after = dh_entries_leq(b, b_n, a, n);
    return before ? (after ? DH_VCLOCK_EQUAL : DH_VCLOCK_BEFORE) : after ? DH_VCLOCK_AFTER : DH_VCLOCK_CONCURRENT;
}

#endif
