/* Whether the program orders two locks of one kind before it acquires both: smaller address, smaller number or next
 * element first. Layer: analysis. Looks at one function and at the calls of it. Not thread-safe. */
#ifndef DH_ANALYSIS_LOCK_PAIR_ORDER_H
#define DH_ANALYSIS_LOCK_PAIR_ORDER_H

#include "model/control_flow.h"

struct dh_lock_pair_order {
    const struct dh_program *program;
    struct dh_cfg flow;
    uint32_t flow_of;     /* function that `flow` is of */
    uint32_t *definition; /* by register of that function: instruction, DH_NONE = parameter */
    uint32_t n_definitions;
};

void dh_lock_pair_order_init(struct dh_lock_pair_order *o, const struct dh_program *p);
void dh_lock_pair_order_release(struct dh_lock_pair_order *o);
/* 1: the lock acquired at `first` is always less than the one at `second`, -1: always greater, 0: unknown. */
int dh_lock_pair_order(struct dh_lock_pair_order *o, uint32_t first, uint32_t second);
/* The two locks are those of `a` and `b`, whichever is which, as long as what is loaded for that stays the same;
 * `index`: these are indices of elements. */
bool dh_lock_pair_selected(struct dh_lock_pair_order *o, uint32_t first, uint32_t second, dh_value *a, dh_value *b,
                           bool *index);

#endif
