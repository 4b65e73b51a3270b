/* Proven joins: loops that join all threads which another loop started. Layer: analysis.
 * 003 §4.1 assumes that one join joins all instances; here it is proven: both loops run over the same handles (same
 * first index, same step, same bound), one handle in each iteration. */
#ifndef DH_ANALYSIS_JOIN_LOOPS_H
#define DH_ANALYSIS_JOIN_LOOPS_H

#include "analysis/value_numbering.h"
#include "model/control_flow.h"

/* Leaving the loop with this header by its own test means that all threads of `create` have ended. */
struct dh_joined_loop {
    uint32_t function, header; /* number of the block in the function */
    uint32_t create;           /* instruction */
    uint32_t start;            /* header of the loop that starts them */
    bool contained;            /* no path leaves the function without the joins: its next activation finds none alive */
    uint32_t bound;            /* expression that ends both loops: must not change in between */
};

/* After this join (or call that joins) the thread that `create` started in the same activation has ended. */
struct dh_joined_point {
    uint32_t function, inst, create;
    uint32_t handle; /* expression of the handle's address: must not change in between */
    bool contained;
    bool any_way; /* also if the call is left by an exception */
};

struct dh_joins {
    DH_VEC(struct dh_joined_loop) loops;
    DH_VEC(struct dh_joined_point) points;
};

/* `order`: all functions, callees first. */
void dh_joins_find(struct dh_joins *j, struct dh_value_numbering *x, const uint32_t *order);
void dh_joins_release(struct dh_joins *j);
/* The loop at `header` starts threads that are all joined before the function ends. */
bool dh_joins_contained(const struct dh_joins *j, uint32_t function, uint32_t header);
/* A loop counter: assigned once in each iteration of the loop with `header`, with a constant step. */
bool dh_is_loop_counter(const struct dh_program *p, const struct dh_cfg *flow, uint32_t function, uint32_t reg,
                        uint32_t *header);

#endif
