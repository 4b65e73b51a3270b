/* Heap graph of points-to analysis by unification (Steensgaard; 003 §3.3 heap shape graph). Layer: analysis. A node
 * stands for objects (globals, allocations, stack slots, functions) that may be the same, an edge for what the
 * pointers at a byte offset point to. A pointer is a cell: a node and an offset in it. Union-find; a unified node
 * lies at a distance within its representative. Arrays are folded onto one element. Nodes reachable from globals are
 * never cloned. The graph owns all. Not thread-safe. */
#ifndef DH_ANALYSIS_HEAP_GRAPH_H
#define DH_ANALYSIS_HEAP_GRAPH_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define DH_NO_NODE UINT32_MAX

struct dh_heap_cell {
    uint32_t node;
    int32_t offset;
};
#define DH_NO_CELL ((struct dh_heap_cell){DH_NO_NODE, 0})

enum dh_node_flag {
    DH_NODE_GLOBAL = 1 << 0,    /* reachable from globals, thread arguments or tables of functions: kept, not cloned */
    DH_NODE_COLLAPSED = 1 << 1, /* offsets are lost */
    DH_NODE_READ = 1 << 2,
    DH_NODE_WRITTEN = 1 << 3,
    DH_NODE_CALLED = 1 << 4,         /* functions in it are called or started as threads */
    DH_NODE_EXPOSED = 1 << 5,        /* escapes to unknown code */
    DH_NODE_INT_ARITHMETIC = 1 << 6, /* result of integer arithmetic */
    DH_NODE_SYNC_OBJECT = 1 << 7,    /* used as a lock, condition, semaphore or barrier */
    DH_NODE_SHARED = 1 << 8,         /* accessed by more than one thread; set by symbolic execution */
    DH_NODE_STACK = 1 << 9,
    DH_NODE_HEAP = 1 << 10,
    DH_NODE_PLAIN = 1 << 11, /* some access is not atomic */
    DH_NODE_FREED = 1 << 12,
    DH_NODE_ATOMIC = 1 << 14,     /* some access is */
    DH_NODE_LOCK_REINIT = 1 << 13 /* locks in it are initialised or destroyed while shared */
};
#define DH_NODE_ACCESSED (DH_NODE_READ | DH_NODE_WRITTEN)

enum dh_origin_kind { DH_ORIGIN_GLOBAL, DH_ORIGIN_FUNCTION, DH_ORIGIN_ALLOC, DH_ORIGIN_SLOT, DH_ORIGIN_FOREIGN };

/* What a node stands for. A circular list, so that two are joined in one step. */
struct dh_heap_origin {
    uint32_t kind;
    uint32_t index; /* global, function, or instruction */
    uint32_t node;  /* when it was added; dh_heap_graph_find gives its representative and distance */
    uint32_t next;
};

struct dh_heap_edge {
    int32_t offset;
    struct dh_heap_cell to;
};

/* Bytes from `start` on are elements of `stride` bytes, folded onto the first one; length 0 = without end. */
struct dh_array_fold {
    int32_t start, stride, length;
};

#define DH_FOLDS_MAX 12
struct dh_heap_node {
    uint32_t parent;  /* itself: a representative */
    int32_t distance; /* of its byte 0 in the parent */
    uint32_t flags;
    uint32_t origin; /* one of the ring, DH_NO_NODE: none */
    uint32_t mark;   /* of the traversal that saw it last */
    uint32_t image;  /* its clone of that traversal: node ... */
    int32_t image_distance;
    uint16_t n_edges, n_folds;
    uint32_t cap_edges;
    struct dh_heap_edge *edges;  /* by offset */
    struct dh_array_fold *folds; /* largest stride first, DH_FOLDS_MAX of them or NULL */
};

struct dh_heap_cell_pair {
    struct dh_heap_cell a, b;
};

struct dh_heap_graph {
    DH_VEC(struct dh_heap_node) nodes;
    DH_VEC(struct dh_heap_origin) origins;
    DH_VEC(struct dh_heap_cell_pair) pending;
    uint32_t mark;
    uint64_t unions; /* changes so far, to detect a fixed point */
    bool busy;
};

void dh_heap_graph_init(struct dh_heap_graph *g);
void dh_heap_graph_release(struct dh_heap_graph *g);

uint32_t dh_heap_graph_add_node(struct dh_heap_graph *g, uint32_t flags);
void dh_heap_graph_add_origin(struct dh_heap_graph *g, uint32_t node, enum dh_origin_kind kind, uint32_t index);
/* Its representative and the offset in that. */
struct dh_heap_cell dh_heap_graph_find(struct dh_heap_graph *g, struct dh_heap_cell c);
static inline struct dh_heap_cell dh_heap_cell_at(struct dh_heap_cell c, int64_t by)
{
    return (struct dh_heap_cell){c.node, (int32_t)(c.offset + by)};
}
void dh_heap_graph_unify(struct dh_heap_graph *g, struct dh_heap_cell a, struct dh_heap_cell b);
void dh_heap_graph_collapse(struct dh_heap_graph *g, uint32_t node);
void dh_heap_graph_add_flags(struct dh_heap_graph *g, struct dh_heap_cell c, uint32_t flags);
/* From the cell on, elements of `stride` bytes; count 0 = not known. */
void dh_heap_graph_fold_array(struct dh_heap_graph *g, struct dh_heap_cell c, int64_t stride, uint64_t count);
/* What the pointer stored at the cell points to; added when there is none. */
struct dh_heap_cell dh_heap_graph_get_pointee(struct dh_heap_graph *g, struct dh_heap_cell c);
/* DH_NO_CELL when there is none. */
struct dh_heap_cell dh_heap_graph_find_pointee(struct dh_heap_graph *g, struct dh_heap_cell c);
void dh_heap_graph_add_edge(struct dh_heap_graph *g, struct dh_heap_cell from, struct dh_heap_cell to);
/* Both hold equal pointers in `length` bytes (0 = all). True when something changed. */
bool dh_heap_graph_unify_content(struct dh_heap_graph *g, struct dh_heap_cell a, struct dh_heap_cell b,
                                 uint64_t length);

/* Clones what is reachable from `from` (of a summary) onto `to` (in a caller); global nodes are shared instead.
 * `begin` starts a new clone; its images are kept until the next one. The observer is notified of every cloned node. */
typedef void dh_heap_graph_clone_observer(void *self, uint32_t from, struct dh_heap_cell to);
void dh_heap_graph_begin_clone(struct dh_heap_graph *g);
void dh_heap_graph_clone(struct dh_heap_graph *g, struct dh_heap_cell from, struct dh_heap_cell to,
                         dh_heap_graph_clone_observer *seen, void *self);
/* The image of a cell in the current clone; DH_NO_CELL when it was not reached. */
struct dh_heap_cell dh_heap_graph_find_image(struct dh_heap_graph *g, struct dh_heap_cell from);

#endif
