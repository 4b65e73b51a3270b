/* Constraints and their solution: what inclusion.c and inclusion_read.c share. Layer: analysis. */
#ifndef DH_ANALYSIS_POINTS_TO_ANDERSEN_INTERNAL_H
#define DH_ANALYSIS_POINTS_TO_ANDERSEN_INTERNAL_H

#include "analysis/points_to_andersen.h"

/* A function as it is called from one place, or from all places that have no copy of their own. Copies of a function
 * make different objects: each of its runs belongs to one. */
struct dh_copy {
    uint32_t function;
    uint32_t registers; /* first variable; the one behind the last is what it gives back */
    uint32_t outer;     /* the copy that calls it, DH_NONE: anybody */
    uint32_t depth;
    uint32_t next; /* of the same function */
};

struct dh_made {
    enum dh_made_kind { DH_MADE_ANYTHING, DH_MADE_GLOBAL, DH_MADE_FUNCTION, DH_MADE_HERE } kind;
    uint32_t index;         /* global, function or instruction */
    uint32_t spot, n_spots; /* its spots, in a list; DH_NONE */
    bool exposed;           /* code nobody knows may use it */
};

/* Bytes of an object: `offset`, and every `stride` bytes before and behind (0: that one alone). Spot 0: anywhere. */
struct dh_spot {
    uint32_t object;
    int32_t offset;
    uint32_t stride;
    uint32_t next;       /* of the object */
    uint32_t held, seen; /* variables: what was stored there; what a load from there may give. DH_NONE */
};
#define DH_ANYWHERE 0u

enum dh_use_kind { DH_USE_LOAD, DH_USE_STORE, DH_USE_CALL, DH_USE_EXPOSE };
struct dh_use {
    uint32_t kind, next;
    uint32_t other; /* variable loaded into or stored; number of the call */
    int32_t by;     /* bytes behind the pointer */
};

struct dh_call_place {
    uint32_t inst, copy;
};

/* What goes from one variable into another on its way: moved by that, and by any number of strides. */
struct dh_inclusion_edge {
    uint32_t to, next;
    int32_t by;
    uint32_t stride;
};

struct dh_variable {
    uint32_t *spots; /* what it may point to */
    uint32_t n, cap, done;
    uint32_t edge, use; /* lists; DH_NONE */
    bool queued;
};

struct dh_number_set {
    uint64_t *slot; /* number + 1, 0 = free */
    size_t mask, n;
};

struct dh_inclusion {
    const struct dh_program *program;
    bool solved, gave_up;
    uint64_t budget, spent;
    uint64_t copied, max_copied;          /* instructions of copies of one place */
    DH_VEC(struct dh_variable) variables; /* constants first */
    DH_VEC(struct dh_made) objects;
    DH_VEC(struct dh_spot) spots;
    DH_VEC(struct dh_inclusion_edge) edges;
    DH_VEC(struct dh_use) uses;
    DH_VEC(struct dh_call_place) calls;
    DH_VEC(struct dh_call_place) deferred; /* call and function of another type */
    bool at_last;                          /* these count, too */
    DH_VEC(struct dh_copy) copies;
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
uint32_t dh_inclusion_object(struct dh_inclusion *x, enum dh_made_kind kind, uint32_t index);
uint32_t dh_inclusion_spot(struct dh_inclusion *x, uint32_t object, int64_t offset, uint32_t stride);
void dh_inclusion_point(struct dh_inclusion *x, uint32_t variable, uint32_t spot);
void dh_inclusion_flow(struct dh_inclusion *x, uint32_t from, uint32_t to, int64_t by, uint32_t stride);
void dh_inclusion_use(struct dh_inclusion *x, uint32_t variable, struct dh_use u);
/* A pointer that is there from the beginning. */
void dh_inclusion_hold(struct dh_inclusion *x, uint32_t spot, uint32_t value);
uint32_t dh_inclusion_variable(struct dh_inclusion *x);
/* inclusion_read.c: the program's constraints. */
void dh_inclusion_read(struct dh_inclusion *x);
/* The next copy that calls have asked for; false: there is none. */
bool dh_inclusion_read_next(struct dh_inclusion *x);
uint32_t dh_inclusion_value(const struct dh_inclusion *x, const struct dh_copy *c, dh_value v);
/* A call reaches a function, DH_NONE: one that nobody knows. */
void dh_inclusion_connect(struct dh_inclusion *x, uint32_t call, uint32_t function);
/* Those that were put off because of their type; false: there were none. */
bool dh_inclusion_connect_rest(struct dh_inclusion *x);
/* Code nobody knows calls it. */
void dh_inclusion_give(struct dh_inclusion *x, uint32_t function);

#endif
