/* Constraints and their solution: what inclusion.c and inclusion_read.c share. Layer: analysis. */
#ifndef DH_ANALYSIS_POINTS_TO_ANDERSEN_INTERNAL_H
#define DH_ANALYSIS_POINTS_TO_ANDERSEN_INTERNAL_H

#include "analysis/points_to_andersen.h"

/* A function as it is called from one place, or from all places that have no copy of their own. Copies of a function
 * make different objects: each of its runs belongs to one. */
struct dh_function_copy {
    uint32_t function;
    uint32_t registers; /* first variable; the one behind the last is what it gives back */
    uint32_t outer;     /* the copy that calls it, DH_NONE: anybody */
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
    uint32_t index;         /* global, function or instruction */
    uint32_t spot, n_spots; /* its spots, in a list; DH_NONE */
    bool exposed;           /* code nobody knows may use it */
};

/* Bytes of an object: `offset`, and every `stride` bytes before and behind (0: that one alone). Spot 0: anywhere. */
struct dh_abstract_location {
    uint32_t object;
    int32_t offset;
    uint32_t stride;
    uint32_t next;       /* of the object */
    uint32_t held, seen; /* variables: what was stored there; what a load from there may give. DH_NONE */
};
#define DH_LOCATION_UNKNOWN 0u

enum dh_constraint_kind { DH_CONSTRAINT_LOAD, DH_CONSTRAINT_STORE, DH_CONSTRAINT_CALL, DH_CONSTRAINT_EXPOSE };
struct dh_andersen_constraint {
    uint32_t kind, next;
    uint32_t other; /* variable loaded into or stored; number of the call */
    int32_t by;     /* bytes behind the pointer */
};

struct dh_copied_call {
    uint32_t inst, copy;
};

/* What goes from one variable into another on its way: moved by that, and by any number of strides. */
struct dh_andersen_edge {
    uint32_t to, next;
    int32_t by;
    uint32_t stride;
};

struct dh_andersen_variable {
    uint32_t *spots; /* what it may point to */
    uint32_t n, cap, done;
    uint32_t edge, use; /* lists; DH_NONE */
    bool queued;
};

struct dh_number_set {
    uint64_t *slot; /* number + 1, 0 = free */
    size_t mask, n;
};

struct dh_andersen {
    const struct dh_program *program;
    bool solved, gave_up;
    uint64_t budget, spent;
    uint64_t copied, max_copied;                   /* instructions of copies of one place */
    DH_VEC(struct dh_andersen_variable) variables; /* constants first */
    DH_VEC(struct dh_abstract_object) objects;
    DH_VEC(struct dh_abstract_location) spots;
    DH_VEC(struct dh_andersen_edge) edges;
    DH_VEC(struct dh_andersen_constraint) uses;
    DH_VEC(struct dh_copied_call) calls;
    DH_VEC(struct dh_copied_call) deferred; /* call and function of another type */
    bool at_last;                           /* these count, too */
    DH_VEC(struct dh_function_copy) copies;
    uint32_t *copies_of, *common; /* by function: all copies, the one for everybody; DH_NONE */
    size_t n_read;                /* copies that were read */
    DH_VEC(uint32_t) queue;       /* of variables, from `next` on */
    size_t next;
    DH_VEC(uint32_t) to_expose; /* objects */
    struct dh_number_set holds; /* variable and spot */
    struct dh_number_set arcs;  /* plain edges */
    uint32_t *spot_slot;        /* hash table of spots: index + 1, 0 = free */
    size_t spot_mask;
    uint32_t *by_global, *by_function; /* objects, DH_NONE = not yet */
};

/* inclusion.c */
uint32_t dh_andersen_add_object(struct dh_andersen *x, enum dh_abstract_object_kind kind, uint32_t index);
uint32_t dh_andersen_get_location(struct dh_andersen *x, uint32_t object, int64_t offset, uint32_t stride);
void dh_andersen_add_pointee(struct dh_andersen *x, uint32_t variable, uint32_t spot);
void dh_andersen_add_edge(struct dh_andersen *x, uint32_t from, uint32_t to, int64_t by, uint32_t stride);
void dh_andersen_add_constraint(struct dh_andersen *x, uint32_t variable, struct dh_andersen_constraint u);
/* A pointer that is there from the beginning. */
void dh_andersen_add_initial(struct dh_andersen *x, uint32_t spot, uint32_t value);
uint32_t dh_andersen_add_variable(struct dh_andersen *x);
/* inclusion_read.c: the program's constraints. */
void dh_andersen_read_constraints(struct dh_andersen *x);
/* The next copy that calls have asked for; false: there is none. */
bool dh_andersen_read_next_clone(struct dh_andersen *x);
uint32_t dh_andersen_variable_of(const struct dh_andersen *x, const struct dh_function_copy *c, dh_value v);
/* A call reaches a function, DH_NONE: one that nobody knows. */
void dh_andersen_connect_call(struct dh_andersen *x, uint32_t call, uint32_t function);
/* Those that were put off because of their type; false: there were none. */
bool dh_andersen_connect_deferred(struct dh_andersen *x);
/* Code nobody knows calls it. */
void dh_andersen_expose_function(struct dh_andersen *x, uint32_t function);

#endif
