/* Who calls whom: targets of calls through pointers as far as known, and an order of functions from callees to
 * callers. Layer: analysis. Targets are only ever added. A call through a pointer is `far` when following it like a
 * direct call would tie the caller into a recursion, or when it has many targets: such calls meet in one common
 * instance of each target. Owns its storage. Not thread-safe. */
#ifndef DH_ANALYSIS_CALL_GRAPH_H
#define DH_ANALYSIS_CALL_GRAPH_H

#include "model/program.h"

struct dh_call_target {
    uint32_t function, next;
};

struct dh_call_graph {
    const struct dh_program *program;
    uint32_t *head; /* by instruction: first in targets or DH_NONE */
    uint8_t *far;   /* by instruction */
    DH_VEC(struct dh_call_target) targets;
    uint32_t *group;     /* by function: its recursion */
    uint32_t *order;     /* functions, callees first; those of a group together */
    uint32_t *scc_first; /* by group: its first in order; one more at the end */
    uint32_t n_sccs;
};

void dh_call_graph_init(struct dh_call_graph *c, const struct dh_program *p);
void dh_call_graph_release(struct dh_call_graph *c);
/* True when new. */
bool dh_call_graph_add_target(struct dh_call_graph *c, uint32_t inst, uint32_t function);
/* Groups, order and far calls of what is known now. */
void dh_call_graph_order(struct dh_call_graph *c);

/* for (uint32_t it = dh_call_graph_first(c, inst), f; dh_call_graph_next(c, inst, &it, &f);) over all targets of a call
 * or create, direct ones too. */
uint32_t dh_call_graph_first(const struct dh_call_graph *c, uint32_t inst);
bool dh_call_graph_next(const struct dh_call_graph *c, uint32_t inst, uint32_t *it, uint32_t *function);
/* Which operand of an instruction is a function that it calls, starts or registers; DH_NONE: none. */
uint32_t dh_inst_callee_operand(const struct dh_inst *i);

#endif
