/* Call graph: targets of direct calls and, as far as known, of calls through pointers; its strongly connected
 * components (SCCs) in bottom-up order. Layer: analysis. Targets are only ever added. A call through a pointer is
 * context-insensitive when a direct call there would make the caller part of a recursion, or when it has many
 * targets: all such calls share one instance of each target. Owns its storage. Not thread-safe. */
#ifndef DH_ANALYSIS_CALL_GRAPH_H
#define DH_ANALYSIS_CALL_GRAPH_H

#include "model/program.h"

struct dh_call_target {
    uint32_t function, next;
};

struct dh_call_graph {
    const struct dh_program *program;
    uint32_t *head;       /* by instruction: first in targets or DH_NONE */
    uint8_t *insensitive; /* by instruction */
    DH_VEC(struct dh_call_target) targets;
    uint32_t *scc;       /* by function: its SCC */
    uint32_t *order;     /* functions, callees first; those of an SCC together */
    uint32_t *scc_first; /* by SCC: its first in order; one more at the end */
    uint32_t n_sccs;
};

void dh_call_graph_init(struct dh_call_graph *c, const struct dh_program *p);
void dh_call_graph_release(struct dh_call_graph *c);
/* True when new. */
bool dh_call_graph_add_target(struct dh_call_graph *c, uint32_t inst, uint32_t function);
/* SCCs, order and context-insensitive calls of the targets known now. */
void dh_call_graph_order(struct dh_call_graph *c);

/* for (uint32_t it = dh_call_graph_first(c, inst), f; dh_call_graph_next(c, inst, &it, &f);) over all targets of a call
 * or create, direct ones too. */
uint32_t dh_call_graph_first(const struct dh_call_graph *c, uint32_t inst);
bool dh_call_graph_next(const struct dh_call_graph *c, uint32_t inst, uint32_t *it, uint32_t *function);
/* Which operand of an instruction is a function that it calls, starts or registers; DH_NONE: none. */
uint32_t dh_inst_callee_operand(const struct dh_inst *i);

#endif
