/* The adversary's choice among a load's candidates, by a heuristic of 004 (§5.1), fairly: a spin loop gets its value.
 * Layer: memory. Memory is dh_memory.memory; what is kept of a run can be copied away and back like a model's.
 * Not thread-safe. The same seed and the same questions get the same answers. */
#ifndef DH_MEMORY_HEURISTICS_H
#define DH_MEMORY_HEURISTICS_H

#include "memory/model.h"

enum dh_heuristic {
#define DH_HEURISTIC(id, name, summary) DH_HEURISTIC_##id,
#include "memory/heuristics.def"
#undef DH_HEURISTIC
    DH_HEURISTIC_COUNT
};

/* DH_HEURISTIC_COUNT: there is no such. */
enum dh_heuristic dh_heuristic_by_name(const char *name);

enum { DH_FAIR_AFTER = 8, DH_FAIR_FACTOR = 4 };

/* NULL: no memory. A thread that got the same stale value `fair_after` times on end at one site gets the newest (0:
 * DH_FAIR_AFTER), and after DH_FAIR_FACTOR times as many stale ones of any value. */
struct dh_picker *dh_picker_new(struct dh_memory *memory, enum dh_heuristic h, uint32_t fair_after);
/* A run begins anew. */
void dh_picker_begin(struct dh_picker *p, uint64_t seed);
/* Which of the n candidates that the model answered for this access: its place in the list. */
unsigned dh_picker_pick(struct dh_picker *p, const struct dh_memory_access *a, const struct dh_candidate *list,
                        unsigned n);

#endif
