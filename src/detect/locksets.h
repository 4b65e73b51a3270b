/* Sets of locks, each kept once, named by a number. Layer: detect. 0 is the empty set; DH_LOCKSET_ALL stands for every
 * lock there may be. A set lives while somebody has taken it. Intersections are remembered. Not thread-safe. */
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
/* The set of these numbers, in any order, repeats allowed; taken for the caller. */
uint32_t dh_locksets_get(struct dh_locksets *s, const uint32_t *locks, size_t n);
/* What both have; taken for the caller. */
uint32_t dh_locksets_intersect(struct dh_locksets *s, uint32_t a, uint32_t b);
/* Is there none that both have? */
bool dh_locksets_disjoint(struct dh_locksets *s, uint32_t a, uint32_t b);
/* Is every lock of a in b? */
bool dh_locksets_is_subset(struct dh_locksets *s, uint32_t a, uint32_t b);
uint32_t dh_locksets_ref(struct dh_locksets *s, uint32_t set);
void dh_locksets_unref(struct dh_locksets *s, uint32_t set);
/* Ascending; valid while the set is. Not for DH_LOCKSET_ALL. */
const uint32_t *dh_locksets_members(const struct dh_locksets *s, uint32_t set, size_t *n);

#endif
