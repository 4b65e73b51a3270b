/* Points-to analysis by inclusion (Andersen): asked where unification (points_to_unify.h) merged objects. Layer:
 * analysis. Flow-insensitive, field-sensitive by offset, context-sensitive by cloning small functions and what they
 * allocate. Solved at the first query, within a budget; without a solution every answer is "may".
 * Owns its storage. Not thread-safe. */
#ifndef DH_ANALYSIS_POINTS_TO_ANDERSEN_H
#define DH_ANALYSIS_POINTS_TO_ANDERSEN_H

#include "analysis/call_graph.h"

struct dh_andersen;
struct dh_andersen *dh_andersen_new(const struct dh_program *p);
void dh_andersen_free(struct dh_andersen *x);
/* For the sizes of all points-to sets together; 0 = default, by the size of the program. */
void dh_andersen_set_budget(struct dh_andersen *x, uint64_t budget);
/* It could not be solved within its budget. */
bool dh_andersen_gave_up(const struct dh_andersen *x);

/* Whether all functions are known that `inst` may call or start through its pointer. */
bool dh_andersen_knows_callees(struct dh_andersen *x, uint32_t inst);
/* True as well when the callees are unknown. */
bool dh_andersen_may_call(struct dh_andersen *x, uint32_t inst, uint32_t function);

/* A value of a function, used as the address of `size` bytes (0 = any number). */
struct dh_pointer_range {
    uint32_t function;
    dh_value address;
    uint32_t size;
};
/* The byte ranges are disjoint: in different objects, or in different parts of them. */
bool dh_andersen_never_alias(struct dh_andersen *x, const struct dh_pointer_range *a, const struct dh_pointer_range *b);

#endif
