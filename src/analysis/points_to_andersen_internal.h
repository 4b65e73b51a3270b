/* Inclusion constraints and their solution. Layer: analysis, for points_to_andersen.c and points_to_constraints.c. */
#ifndef DH_ANALYSIS_POINTS_TO_ANDERSEN_INTERNAL_H
#define DH_ANALYSIS_POINTS_TO_ANDERSEN_INTERNAL_H

#include "analysis/points_to_andersen.h"
#include "base/map.h"
#include "base/set.h"

/* Context sensitivity by cloning: a function as one call site calls it, or all call sites that have no copy of their
 * own. Copies of a function allocate different objects: each execution belongs to one copy. */
struct dh_function_copy {
    uint32_t function;
    uint32_t registers; /* first variable; the one after the last is its return value */
    uint32_t outer;     /* the copy that calls it, DH_NONE: any */
    uint32_t depth;
    uint32_t next; /* of the same function */
};

struct dh_abstract_object {
    enum dh_abstract_object_kind {
        DH_ABSTRACT_UNKNOWN,
        DH_ABSTRACT_GLOBAL,
        DH_ABSTRACT_FUNCTION,
        DH_ABSTRACT_ALLOCATED
    } kind;
    uint32_t index;                 /* global, function or instruction */
    uint32_t location, n_locations; /* list of its locations; DH_NONE */
    bool exposed;                   /* escapes to unknown code */
};

/* Abstract location, bytes of an object: `offset`, and every `stride` bytes before and after (0: that one alone).
 * Location 0: unknown. */
struct dh_abstract_location {
    uint32_t object;
    int32_t offset;
    uint32_t stride;
    uint32_t next;           /* of the object */
    uint32_t stored, loaded; /* variables: what was stored there; what a load from there may give. DH_NONE */
};
#define DH_LOCATION_UNKNOWN 0u

enum dh_constraint_kind { DH_CONSTRAINT_LOAD, DH_CONSTRAINT_STORE, DH_CONSTRAINT_CALL, DH_CONSTRAINT_EXPOSE };
struct dh_andersen_constraint {
    uint32_t kind, next;
    uint32_t other; /* variable loaded into or stored; index of the call */
    int32_t by;     /* bytes added to the pointer */
};

struct dh_copied_call {
    uint32_t inst, copy;
};

/* Inclusion edge: the target includes the source's pointees, moved by `by` and by any number of strides. */
struct dh_andersen_edge {
    uint32_t to, next;
    int32_t by;
    uint32_t stride;
};

struct dh_andersen_variable {
    uint32_t *locations; /* points-to set */
    uint32_t n, cap, done;
    uint32_t edge, constraint; /* lists; DH_NONE */
    bool queued;
};

struct dh_andersen {
    const struct dh_program *program;
    bool solved, gave_up;
    uint64_t budget, spent;
    uint64_t copied, max_copied;                   /* instructions of copies for single call sites */
    DH_VEC(struct dh_andersen_variable) variables; /* constants first */
    DH_VEC(struct dh_abstract_object) objects;
    DH_VEC(struct dh_abstract_location) locations;
    DH_VEC(struct dh_andersen_edge) edges;
    DH_VEC(struct dh_andersen_constraint) constraints;
    DH_VEC(struct dh_copied_call) calls;
    DH_VEC(struct dh_copied_call) deferred; /* call and function of another machine type */
    bool mismatched_types;                  /* these are connected, too */
    DH_VEC(struct dh_function_copy) copies;
    uint32_t *copies_of, *common; /* by function: all copies, the context-insensitive one; DH_NONE */
    size_t n_read;                /* copies whose constraints were read */
    DH_VEC(uint32_t) queue;       /* of variables, from `next` on */
    size_t next;
    DH_VEC(uint32_t) to_expose;    /* objects */
    struct dh_u64_set pointees;    /* variable and location */
    struct dh_u64_set plain_edges; /* plain edges */
    struct dh_index location_index;
    uint32_t *by_global, *by_function; /* objects, DH_NONE = not yet */
};

/* points_to_andersen.c */
uint32_t dh_andersen_add_object(struct dh_andersen *x, enum dh_abstract_object_kind kind, uint32_t index);
uint32_t dh_andersen_get_location(struct dh_andersen *x, uint32_t object, int64_t offset, uint32_t stride);
void dh_andersen_add_pointee(struct dh_andersen *x, uint32_t variable, uint32_t location);
void dh_andersen_add_edge(struct dh_andersen *x, uint32_t from, uint32_t to, int64_t by, uint32_t stride);
void dh_andersen_add_constraint(struct dh_andersen *x, uint32_t variable, struct dh_andersen_constraint u);
/* A pointer in a static initialiser. */
void dh_andersen_add_initial(struct dh_andersen *x, uint32_t location, uint32_t value);
uint32_t dh_andersen_add_variable(struct dh_andersen *x);
/* points_to_constraints.c */
void dh_andersen_read_constraints(struct dh_andersen *x);
/* Constraints of the next copy that a call created; false: there is none. */
bool dh_andersen_read_next_clone(struct dh_andersen *x);
uint32_t dh_andersen_variable_of(const struct dh_andersen *x, const struct dh_function_copy *c, dh_value v);
/* A call reaches a function, DH_NONE: unknown code. */
void dh_andersen_connect_call(struct dh_andersen *x, uint32_t call, uint32_t function);
/* Connects the calls deferred because of their type; false: there were none. */
bool dh_andersen_connect_deferred(struct dh_andersen *x);
/* Unknown code calls it. */
void dh_andersen_expose_function(struct dh_andersen *x, uint32_t function);

#endif
