/* Interned lock sets: each set is kept once and named by a number. Layer: detect. 0 is the empty set; DH_LOCKSET_ALL
 * stands for all locks. References are counted. Intersections are cached. Not thread-safe. */
#ifndef DH_DETECT_LOCKSETS_H
#define DH_DETECT_LOCKSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_LOCKSET_NONE 0u
#define DH_LOCKSET_ALL UINT32_MAX

struct dh_locksets;
struct dh_locksets *dh_locksets_new(void);
void dh_locksets_free(struct dh_locksets *s);
/* The set of these locks, in any order, repeats allowed; the caller owns a reference. */
uint32_t dh_locksets_get(struct dh_locksets *s, const uint32_t *locks, size_t n);
/* The caller owns a reference to the result. */
uint32_t dh_locksets_intersect(struct dh_locksets *s, uint32_t a, uint32_t b);
bool dh_locksets_disjoint(struct dh_locksets *s, uint32_t a, uint32_t b);
bool dh_locksets_is_subset(struct dh_locksets *s, uint32_t a, uint32_t b);
uint32_t dh_locksets_ref(struct dh_locksets *s, uint32_t set);
void dh_locksets_unref(struct dh_locksets *s, uint32_t set);

#endif
