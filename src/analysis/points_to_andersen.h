/* What pointers may point to, by inclusion (Andersen): a pointer that is given another one's value may point to what
 * that one may, not the other way round. Asked where uniting (shapes.h) made one object of many. Layer: analysis.
 * Flow-insensitive, fields by offset; small functions, and what they make, are told apart by who calls them. Worked out
 * at the first question, within a budget; whoever gives no answer knows nothing.
 * Owns its storage. Not thread-safe. */
#ifndef DH_ANALYSIS_POINTS_TO_ANDERSEN_H
#define DH_ANALYSIS_POINTS_TO_ANDERSEN_H

#include "analysis/call_graph.h"

struct dh_andersen;
struct dh_andersen *dh_andersen_new(const struct dh_program *p);
void dh_andersen_free(struct dh_andersen *x);
/* Of the values that variables hold together; 0 = the usual one, by the size of the program. */
void dh_andersen_set_budget(struct dh_andersen *x, uint64_t budget);
/* It was asked and could not answer within its budget. */
bool dh_andersen_gave_up(const struct dh_andersen *x);

/* Whether all functions are known that `inst` may call or start through its pointer. */
bool dh_andersen_knows_callees(struct dh_andersen *x, uint32_t inst);
/* Whether it may be that one: true as well when nobody can tell. */
bool dh_andersen_may_call(struct dh_andersen *x, uint32_t inst, uint32_t function);

/* A value of a function, used as the address of `size` bytes (0 = any number). */
struct dh_pointer_range {
    uint32_t function;
    dh_value address;
    uint32_t size;
};
/* No byte that one may point to is one that the other may: different objects, or different parts of them. */
bool dh_andersen_never_alias(struct dh_andersen *x, const struct dh_pointer_range *a, const struct dh_pointer_range *b);

#endif
