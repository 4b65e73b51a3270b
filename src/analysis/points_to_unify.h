/* Points-to analysis of a whole program by unification (003 §3.3, after Ruf): one summary for each SCC of the call
 * graph, cloned into its callers, so that allocations are distinguished by calling context. Layer: analysis.
 * Flow-insensitive, hence sound for any interleaving. Owns heap graph and call graph. Not thread-safe. */
#ifndef DH_ANALYSIS_POINTS_TO_UNIFY_H
#define DH_ANALYSIS_POINTS_TO_UNIFY_H

#include "analysis/call_graph.h"
#include "analysis/heap_graph.h"

/* The context-insensitive instance of a function, all of whose parameters are global: for context-insensitive calls,
 * and for what a thread or a handler is started with. */
struct dh_common_instance {
    uint32_t inst; /* create or register; DH_NONE: context-insensitive calls, main, constructors */
    uint32_t function;
    uint32_t cells; /* first of n_params + 1 in points_to.cells, the last one is what it returns */
};

struct dh_points_to {
    const struct dh_program *program;
    struct dh_heap_graph graph;
    struct dh_call_graph calls;
    struct dh_heap_cell *registers; /* by program register; DH_NO_CELL: never carries a pointer */
    struct dh_heap_cell *globals, *functions, *returns;
    struct dh_heap_cell unknown;
    DH_VEC(struct dh_common_instance) instances;
    DH_VEC(struct dh_heap_cell) cells;
    uint32_t *common_instance; /* by function */
    struct dh_scc_summary {
        DH_VEC(uint32_t) touched; /* nodes that its functions and their callees access, by their numbers then */
        DH_VEC(struct dh_copied_memory) contents; /* memory that was copied */
    } *sccs;
    unsigned passes;     /* until the call graph was complete */
    bool coarse;         /* the budget was used up: context-insensitive */
    uint32_t n_indirect; /* calls through pointers, and those without a target */
    uint32_t n_unresolved;
    struct dh_andersen *andersen; /* set by the caller: resolves calls through pointers; or NULL */
    uint32_t max_nodes;           /* budget; 0 = default */
};

struct dh_copied_memory {
    struct dh_heap_cell a, b;
    uint64_t length;
};

void dh_points_to_init(struct dh_points_to *s, const struct dh_program *p);
void dh_points_to_run(struct dh_points_to *s);
void dh_points_to_release(struct dh_points_to *s);

/* The cell that an operand of a function points to. */
struct dh_heap_cell dh_points_to_value(struct dh_points_to *s, uint32_t function, dh_value v);
/* The representative of a cell, with its offset folded by wide array elements. */
struct dh_heap_cell dh_points_to_fold_cell(struct dh_points_to *s, struct dh_heap_cell c);

#endif
