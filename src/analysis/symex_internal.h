/* Internals of symbolic execution: the abstract state, activations, tables. Layer: analysis. */
#ifndef DH_ANALYSIS_SYMEX_INTERNAL_H
#define DH_ANALYSIS_SYMEX_INTERNAL_H

#include "analysis/atomic_tests.h"
#include "analysis/heuristic_joins.h"
#include "analysis/join_loops.h"
#include "analysis/lock_pair_order.h"
#include "analysis/symex.h"
#include "analysis/value_numbering.h"
#include "model/control_flow.h"

#include <string.h>

enum {
    DH_LOCKS_MAX = 12,
    DH_FRESH_MAX = 12,
    DH_ATTRIBUTES_MAX = 12,
    DH_ELEMENTS_MAX = 6,
    DH_DEPTH_MAX = 500,
    DH_CALLERS_MAX = 12
};

/* Abstract state at a program point. */
struct dh_state {
    bool reached;
    uint8_t n_locks, n_fresh, n_passed, n_element_joined, ignoring;
    bool passed_any;                                  /* more than fit in `passed` */
    uint16_t nested;                                  /* bits of `fresh`: stored in another fresh object */
    uint32_t fresh[DH_FRESH_MAX];                     /* leaves: objects of this function that have not escaped */
    uint32_t passed[DH_ELEMENTS_MAX];                 /* elements that may have been passed on in this iteration */
    uint32_t element_joined[DH_ELEMENTS_MAX];         /* elements whose threads ended in this iteration, and ... */
    dh_thread_set element_joined_by[DH_ELEMENTS_MAX]; /* ... which threads these are */
    bool passed_by_call;                              /* to an unknown thread */
    dh_thread_set started, joined;                    /* joined: none of those that were started is alive */
    dh_thread_set joined_heuristic;                   /* the same by heuristic_joins.h */
    uint32_t only_instance;                           /* number + 1 of the one instance that gets here; 0 = any */
    uint64_t phase;                                   /* set of barriers that may have been the last one */
    struct dh_symex_lock locks[DH_LOCKS_MAX];
};

/* What a caller knows of an argument. */
enum dh_arg_attribute {
    DH_ARG_FRESH = 1 << 0,
    DH_ARG_OWN = 1 << 1, /* the argument of this thread instance */
    DH_ARG_OWN_VIA = 1 << 2,
    DH_ARG_OWN_NEAR = 1 << 4,       /* OWN or OWN_VIA, unless an index leaves the object */
    DH_ARG_THREAD_INDEX = 1 << 6,   /* a number passed to this thread instance, or computed from one */
    DH_ARG_ALLOCATED_HERE = 1 << 5, /* an object that this thread allocated */
    DH_ARG_SOLELY_OWNED = 1 << 7,   /* owned by an object that only this thread can reach: symex_library_objects.c */
    DH_ARG_DISTINCT = 1 << 3        /* another one in each iteration of the caller's loop */
};

/* An object of a callee's summary is `node` in this context, its byte 0 at `distance`. */
struct dh_symex_binding {
    uint32_t node;
    int32_t distance;
};

/* A function in one context: its entry state, what its summary's objects are bound to, and its exit states. */
struct dh_symex_activation {
    uint32_t function, thread;
    bool may_repeat;         /* may be entered more than once */
    bool unwinding;          /* called to clean up while an exception propagates */
    bool in_library_object;  /* a member of a C++ library object: the access was recorded at the call */
    bool under_construction; /* the library is constructing or destroying what the first parameter points to */
    bool own_bindings;       /* made for this activation, not shared with a caller of the same recursion */
    uint8_t attributes[DH_ATTRIBUTES_MAX];
    uint16_t loops[DH_ATTRIBUTES_MAX]; /* DISTINCT: elements of which loop */
    uint32_t binding, n_bindings;      /* in state.bindings, by number in the interface of the SCC */
    struct dh_state in, out;
    struct dh_state thrown; /* as `out`, when an exception leaves it */
    enum { DH_ACTIVATION_NEW, DH_ACTIVATION_RUNNING, DH_ACTIVATION_DONE } status;
    uint64_t from;    /* DH_CACHE_NONE: the call that it was made for, 0 = any */
    uint32_t context; /* in symex.contexts */
    bool called;      /* by a call of a last pass */
};

/* What a function does, callees included, in any context. */
struct dh_function_summary {
    bool sync, unlocks, touches, barriers, returns_new, waits, throws;
    bool has_condition_barrier; /* see condition_barriers.h */
    bool counts;                /* the number of executions matters: it allocates shared objects */
    dh_thread_set starts;
    uint32_t escapes; /* parameters, as bits */
};

/* Another call that leads to a context, besides the first one. */
struct dh_context_caller {
    uint32_t caller, call; /* DH_NONE: there are more */
    uint32_t next;         /* of the same context, in state.callers + 1 */
};

/* Functions of the C++ library: any; members of objects that are accessed as a whole (ir/model_library_objects.c);
 * members of containers and smart pointers. */
enum dh_library_role { DH_ROLE_PROGRAM, DH_ROLE_LIBRARY, DH_ROLE_LIBRARY_OBJECT, DH_ROLE_OWNING_OBJECT };

/* Nodes of a summary that callers can reach. */
struct dh_scc_interface {
    DH_VEC(uint32_t) nodes;
};

/* One instruction that accesses an atomic, in one thread. */
struct dh_atomic_use {
    uint32_t node;
    int32_t offset;
    uint32_t inst, function;
    uint16_t thread;
    bool initial;  /* before the atomic is shared */
    bool releases; /* a write with release order */
    bool valued;   /* writes a constant: */
    int64_t value;
};

/* Roles of instructions on atomics; of a branch: a lock is acquired on that side. */
enum {
    DH_ATOMIC_TESTED = 1, /* a branch depends on the value */
    DH_ATOMIC_TESTED_ACQUIRE = 2,
    DH_ATOMIC_WITHOUT_LOCK = 4,
    DH_ATOMIC_ACQUIRES = 8,
    DH_ATOMIC_RELEASES = 16,
    DH_ATOMIC_ACQUIRED = 32 /* << side */
};
/* Atomics and what they are used for, see atomic_sync.h. */
struct dh_atomic_sync {
    struct dh_symex *symex;
    struct dh_atomic_tests looks;
    DH_VEC(struct dh_atomic_use) uses; /* by location, complete after the first pass */
    DH_VEC(struct dh_heap_cell) plain; /* of these locations: stored to by a non-atomic store */
    uint8_t *roles;                    /* by instruction: DH_ATOMIC_* */
    uint8_t *nodes;                    /* by node: has such locations */
};

struct dh_symex_state {
    struct dh_value_numbering values;
    struct dh_atomic_sync atomics;
    uint8_t *atomic_barriers; /* by function, see atomic_barriers.h */
    struct dh_function_summary *summaries;
    struct dh_scc_interface *interfaces; /* by SCC */
    uint32_t *interface_number;          /* by node: its place in the interface of its SCC, DH_NONE */
    dh_thread_set *accessed;             /* by node */
    struct dh_cfg **cfgs;                /* by function, built when needed */
    uint32_t *returned_params;    /* by function: parameters that its result is found through, symex_provenance.c */
    uint8_t **cleanups;           /* by function: blocks that only clean up, NULL = not computed yet */
    uint32_t **defined;           /* by function: which instruction defines a register */
    uint32_t **reached_from;      /* by function, when needed: see symex_callee_escape.c */
    struct dh_heap_cell *handles; /* by thread: where its handle is stored, DH_NO_CELL: not one location */
    struct dh_joins joins;
    struct dh_heuristic_joins ends;
    struct dh_lock_pair_order pairs;
    DH_VEC(struct dh_symex_activation *) activations;
    DH_VEC(struct dh_symex_binding) bindings;
    DH_VEC(struct dh_context_caller) callers;
    DH_VEC(uint32_t) callers_of; /* by context: first in callers + 1, 0 = none; may be shorter */
    struct dh_index activation_index, lockset_index, event_index;
    DH_VEC(uint32_t) barriers;            /* instructions; a barrier is a bit of dh_state.phase */
    DH_VEC(struct dh_heap_cell) unstable; /* fields stored to after they are shared; sorted for the second pass */
    uint8_t *allocation_count;            /* by node: allocations of this pass */
    uint32_t *create_count;               /* by thread: 0, 1, 2 = more */
    DH_VEC(uint32_t) queue;               /* threads found */
    DH_VEC(struct dh_symex_activation *) deferred; /* called too deep: executed from the top, taken for recursions */
    uint32_t *n_activations;                       /* by function */
    uint8_t *library;                              /* by function: dh_library_role */
    bool has_library;                              /* some are of the library */
    struct dh_state ***widened; /* by function and thread, when needed: the join of all entry states beyond a limit */
    bool second_pass;           /* uses what the first pass learnt, and records events */
    unsigned depth;
};

/* symex_activations.c */
struct dh_symex_binding dh_symex_binding_of(struct dh_symex *w, const struct dh_symex_activation *f,
                                            struct dh_heap_cell c);
/* What a cell of the function's summary is in this context: node DH_NO_NODE when only this thread can reach it. */
struct dh_heap_cell dh_symex_bound_cell(struct dh_symex *w, const struct dh_symex_activation *f, struct dh_heap_cell c);
struct dh_symex_activation *dh_symex_get_activation(struct dh_symex *w, const struct dh_symex_activation *wanted,
                                                    uint32_t caller, uint32_t call);
void dh_symex_bind_call(struct dh_symex *w, const struct dh_symex_activation *caller, const struct dh_inst *call,
                        uint32_t first, struct dh_symex_activation *callee);
void dh_symex_bind_instance(struct dh_symex *w, const struct dh_common_instance *in,
                            struct dh_symex_activation *callee);
void dh_symex_find_interfaces(struct dh_symex *w);
/* A shared object is bound to a node of the function's interface. */
bool dh_symex_binds_shared(struct dh_symex *w, const struct dh_symex_activation *f);

/* symex_state.c */
/* Join of the lattice: `into` keeps what holds in both. */
void dh_state_merge(struct dh_state *into, const struct dh_state *from, bool *moved);
void dh_state_forget_register(struct dh_symex *w, struct dh_state *s, uint32_t function, uint32_t reg);
void dh_state_lock(struct dh_state *s, const struct dh_symex_lock *h);
/* Acquired by the thread that holds it: a recursive lock. False: not held. */
bool dh_state_lock_recursively(struct dh_state *s, const struct dh_symex_lock *h);
void dh_state_unlock(struct dh_state *s, struct dh_heap_cell at, uint32_t expr);
bool dh_state_is_fresh(const struct dh_state *s, uint32_t leaf);
void dh_state_add_fresh(struct dh_state *s, uint32_t leaf);
void dh_state_escape(struct dh_state *s, uint32_t leaf);
void dh_state_nest_fresh(struct dh_state *s, uint32_t leaf);
void dh_state_pass_element(struct dh_state *s, uint32_t expr);
bool dh_state_is_passed(const struct dh_state *s, uint32_t expr);
void dh_state_join_element(struct dh_state *s, uint32_t expr, dh_thread_set by);
dh_thread_set dh_state_element_joined(const struct dh_state *s, uint32_t expr);

/* symex_events.c */
uint32_t dh_symex_intern_lockset(struct dh_symex *w, const struct dh_symex_lock *held, unsigned n);
void dh_symex_add_sync_event(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                             const struct dh_inst *i, enum dh_symex_event_kind kind, const struct dh_symex_lock *lock,
                             const struct dh_symex_lock *second, uint32_t flags);
/* A join of such threads while locks are held. */
void dh_symex_add_join_event(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                             const struct dh_inst *i, dh_thread_set joined);
struct dh_symex_lock dh_symex_lock_of_operand(struct dh_symex *w, struct dh_symex_activation *f,
                                              const struct dh_inst *i, uint32_t operand, uint16_t mode);
/* The cell of an address in the heap graph of the function, DH_NO_CELL: unknown. */
struct dh_heap_cell dh_symex_term_cell(struct dh_symex *w, uint32_t function, struct dh_term t);
/* As dh_symex_lock_of_operand for an address in terms of the activation's function. */
struct dh_symex_lock dh_symex_lock_of_term(struct dh_symex *w, struct dh_symex_activation *f, struct dh_term at,
                                           uint32_t inst);
/* Evaluated twice in the activation, the expression gives one value. */
bool dh_symex_is_stable(struct dh_symex *w, const struct dh_symex_activation *f, uint32_t expr);
/* DH_ARG_* bits that a value has in an activation. */
uint8_t dh_symex_attributes(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                            struct dh_term t);

/* symex_provenance.c */
/* Heuristic: the value was found through the object whose lock this is. */
bool dh_symex_found_through_lock(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v,
                                 const struct dh_symex_lock *lock);
/* A number computed from the thread's own argument: the bounds of its partition. */
bool dh_symex_is_thread_index(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v);
/* The address of an element at such an index, as a callee returned it. */
bool dh_symex_is_thread_element(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v);
/* A pointer that was loaded from the element at such an index. */
bool dh_symex_loaded_by_thread_index(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v);

/* symex_function.c */
void dh_symex_run_function(struct dh_symex *w, struct dh_symex_activation *f);
const struct dh_cfg *dh_symex_cfg(struct dh_symex *w, uint32_t function);
const uint32_t *dh_symex_definitions(struct dh_symex *w, uint32_t function);

/* symex_sync.c */
/* One instruction in an activation: the arguments of its transfer function. */
struct dh_symex_step {
    struct dh_symex *w;
    struct dh_symex_activation *f;
    struct dh_state *s;
    const struct dh_inst *i;
    uint32_t inst, block;   /* block: number in the function */
    bool repeated;          /* in a loop of the function */
    bool unwinding;         /* only while an exception propagates */
    bool records;           /* the fixed point is reached: events are recorded */
    struct dh_state thrown; /* state after a call that throws */
};
void dh_symex_access(struct dh_symex_step *t, uint32_t operand, enum dh_symex_event_kind kind, uint32_t flags);
void dh_symex_step_sync(struct dh_symex_step *t);
void dh_symex_step_thread(struct dh_symex_step *t);
void dh_symex_step_joins(struct dh_symex_step *t);
void dh_symex_step_barrier(struct dh_symex_step *t);
uint8_t dh_symex_value_attributes(struct dh_symex_step *t, dh_value v, uint16_t *loop);
/* The element of a loop's iteration that an expression lies in, 0 = none. `exactly`: one in each iteration. */
uint32_t dh_symex_loop_element(struct dh_symex_step *t, struct dh_term a, bool exactly, uint16_t *loop);
/* What follows from a branch's outcome: a lock was acquired, a loop of joins is over. */
void dh_symex_step_edge(struct dh_symex_step *t, uint32_t to, uint32_t number, struct dh_state *s);

/* symex_atomic_locks.c */
void dh_atomic_sync_access(struct dh_symex_step *t);
void dh_atomic_sync_fence(struct dh_symex_step *t);
void dh_atomic_sync_edge(struct dh_symex_step *t, uint32_t to, uint32_t number, struct dh_state *s);

/* symex_calls.c */
void dh_symex_step_call(struct dh_symex_step *t);

/* symex_library_objects.c */
/* Sets what a callee is to objects of the C++ library. */
void dh_symex_enter_library_object(struct dh_symex_step *t, uint32_t target, uint32_t first,
                                   struct dh_symex_activation *callee);
bool dh_symex_is_solely_owned(struct dh_symex_step *t, dh_value v);
/* DH_SYMEX_* bits of an access that follow from that. */
uint32_t dh_symex_library_object_flags(struct dh_symex_step *t, dh_value address);
void dh_symex_classify_functions(struct dh_symex *w);
/* An access of a library function inside of a local variable, besides the access recorded at the call. */
bool dh_symex_is_library_access(struct dh_symex_step *t, dh_value address);
/* The library object that an iterator in a local variable iterates over, DH_NONE: unknown. */
dh_value dh_symex_iterated_container(struct dh_symex *w, uint32_t function, dh_value slot);
/* What an address was computed from, one step back: also through elements and iterators of objects of the library.
 * DH_NONE: from something else. */
dh_value dh_symex_address_source(struct dh_symex *w, uint32_t function, const struct dh_inst *i);

/* symex_thread_owners.c */
/* A call of a constructor of std::thread: which object owns the thread? */
void dh_symex_note_thread_owner(struct dh_symex_step *t, uint32_t target);

/* symex_callee_escape.c */
/* Fresh objects that escape in the callee though only what points to them is passed: bits of state.fresh. */
uint32_t dh_symex_escaping_fresh(struct dh_symex_step *t, uint32_t target, uint32_t first);
/* Parameters that a function may store where its caller does not know: in another object, or for good. By the heap
 * graph, so what only went through its local variables is not among them. */
uint32_t dh_symex_escaping_params(struct dh_symex *w, uint32_t function);
/* The same for memory that is copied out of a fresh object. */
void dh_symex_escape_copied(struct dh_symex_step *t, uint32_t source);

/* symex_summaries.c */
/* Abstract threads that an instruction starts. */
dh_thread_set dh_symex_threads_of(const struct dh_symex *w, uint32_t inst);
/* Every callee returns a fresh object, and there is one. */
bool dh_symex_returns_fresh(const struct dh_symex *w, uint32_t call);
void dh_symex_summarise_functions(struct dh_symex *w);
void dh_symex_find_shared(struct dh_symex *w);

#endif
