/* What the files of the walk share. Layer: analysis. */
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

/* What is known when control is somewhere. */
struct dh_state {
    bool reached;
    uint8_t n_locks, n_fresh, n_handed, n_rejoined, ignoring;
    bool handed_all;                            /* more than fit in `handed` */
    uint16_t tied;                              /* bits of `fresh`: stored in another fresh object */
    uint32_t fresh[DH_FRESH_MAX];               /* leaves: objects of this function that nobody else knows */
    uint32_t handed[DH_ELEMENTS_MAX];           /* may have been given away in this round */
    uint32_t rejoined[DH_ELEMENTS_MAX];         /* threads that were given them have ended in this round: ... */
    dh_thread_set rejoined_by[DH_ELEMENTS_MAX]; /* these */
    bool handed_by_call;                        /* nobody knows to whom */
    dh_thread_set started, joined;              /* joined: none of those that were started is alive */
    dh_thread_set ended;                        /* the same by custom: see ended.h */
    uint32_t alone;                             /* number of the one instance that gets here, + 1; 0 = any */
    uint64_t phase;                             /* set of barriers that may have been the last one */
    struct dh_symex_lock locks[DH_LOCKS_MAX];
};

/* What a caller knows of an argument. */
enum dh_attribute {
    DH_ARG_FRESH = 1 << 0,
    DH_ARG_OWN = 1 << 1, /* what this thread instance was given */
    DH_ARG_OWN_VIA = 1 << 2,
    DH_ARG_OWN_NEAR = 1 << 4,       /* OWN or OWN_VIA, unless an index leaves the object */
    DH_ARG_THREAD_INDEX = 1 << 6,   /* a number that was given to this very thread, or counted from one */
    DH_ARG_ALLOCATED_HERE = 1 << 5, /* an object that this very thread made */
    DH_ARG_SOLELY_OWNED = 1 << 7,   /* owned by an object that only this thread knows: walk_objects.c */
    DH_ARG_DISTINCT = 1 << 3        /* another one each time round the caller's loop */
};

/* An object of a summary stands for `node` here, byte 0 at `distance`. */
struct dh_symex_binding {
    uint32_t node;
    int32_t distance;
};

struct dh_symex_activation {
    uint32_t function, thread;
    bool multi;        /* may be entered more than once */
    bool unwinding;    /* called to clean up while an exception is on its way */
    bool inside;       /* an object of the C++ library is at work on itself: who called it has accessed it */
    bool owners;       /* what the first parameter points to is being made or destroyed by the library */
    bool own_bindings; /* made for this frame, not a caller's of the same recursion */
    uint8_t attributes[DH_ATTRIBUTES_MAX];
    uint16_t loops[DH_ATTRIBUTES_MAX]; /* DISTINCT: elements of which loop */
    uint32_t binding, n_bindings;      /* in state.bindings, by number in the group's interface */
    struct dh_state in, out;
    struct dh_state thrown; /* as `out`, when an exception leaves it */
    enum { DH_ACTIVATION_NEW, DH_ACTIVATION_RUNNING, DH_ACTIVATION_DONE } status;
    uint64_t from;    /* DH_CACHE_NONE: the call that it was made for, 0 = any */
    uint32_t context; /* in symex.contexts */
    bool called;      /* by some call that counts */
};

/* What a function does, callees included, wherever it is called. */
struct dh_function_summary {
    bool sync, unlocks, touches, barriers, returns_new, waits, throws;
    bool meets;  /* a barrier made by hand, see rendezvous.h */
    bool counts; /* it matters how often it runs: it allocates what is shared */
    dh_thread_set starts;
    uint32_t escapes; /* parameters, as bits */
};

/* Another call that leads to a context, besides the first one. */
struct dh_context_caller {
    uint32_t caller, call; /* DH_NONE: there are more */
    uint32_t next;         /* of the same context, in state.callers + 1 */
};

/* Functions of the C++ library: any, members of objects that are accessed as wholes (ir/model_objects.c). */
enum dh_library_role { DH_ROLE_PROGRAM, DH_ROLE_LIBRARY, DH_ROLE_LIBRARY_OBJECT, DH_ROLE_OWNING_OBJECT };

struct dh_scc_interface {
    DH_VEC(uint32_t) nodes;
};

/* One instruction that accesses an atomic, in one thread. */
struct dh_atomic_use {
    uint32_t node;
    int32_t offset;
    uint32_t inst, function;
    uint16_t thread;
    bool initial;  /* before others can look */
    bool releases; /* writes: what comes before is in order */
    bool valued;   /* writes a constant: */
    int64_t value;
};

/* Roles of instructions; of a branch: a lock is got on that side. */
enum {
    DH_ATOMIC_TESTED = 1,
    DH_ATOMIC_TESTED_ACQUIRE = 2,
    DH_ATOMIC_WITHOUT_LOCK = 4,
    DH_ATOMIC_ACQUIRES = 8,
    DH_ATOMIC_RELEASES = 16,
    DH_ATOMIC_ACQUIRED = 32 /* << side */
};
struct dh_atomic_sync {
    struct dh_symex *symex;
    struct dh_atomic_tests looks;
    DH_VEC(struct dh_atomic_use) uses; /* by place, from the first time on */
    DH_VEC(struct dh_heap_cell) plain; /* of these places: stored to without an atomic operation */
    uint8_t *looked; /* by instruction: a branch depends on what it found: DH_ATOMIC_TESTED ...; done without a lock */
    uint8_t *nodes;  /* by node: has such places */
};

struct dh_symex_state {
    struct dh_value_numbering values;
    struct dh_atomic_sync made;
    uint8_t *meetings; /* by function: barriers made of atomics, see phases.h */
    struct dh_function_summary *facts;
    struct dh_scc_interface *interfaces; /* by group */
    uint32_t *interface_number;          /* by node: its place in the interface of its group, DH_NONE */
    dh_thread_set *accessed;             /* by node */
    struct dh_cfg **flows;               /* by function, read when needed */
    uint32_t *returned;           /* by function: parameters through which it finds what it returns, see walk_reach.c */
    uint8_t **cleanups;           /* by function: blocks that only clean up, NULL = not asked yet */
    uint32_t **defined;           /* by function: which instruction assigns a register */
    uint32_t **hanging;           /* by function, when needed: see walk_leaks.c */
    struct dh_heap_cell *handles; /* by thread: where its handle is stored, DH_NO_CELL: not one place */
    struct dh_joins joins;
    struct dh_heuristic_joins ends;
    struct dh_lock_pair_order pairs;
    DH_VEC(struct dh_symex_activation *) frames;
    DH_VEC(struct dh_symex_binding) bindings;
    DH_VEC(struct dh_context_caller) callers;
    DH_VEC(uint32_t) callers_of; /* by context: first in callers + 1, 0 = none; may be shorter */
    uint32_t *frame_slot, *set_slot, *order_slot, *event_slot;
    size_t frame_mask, set_mask, order_mask, event_mask;
    DH_VEC(uint32_t) barriers;            /* instructions; a barrier is a bit of dh_state.phase */
    DH_VEC(struct dh_heap_cell) unstable; /* fields stored to when others may read them; sorted when recording */
    uint8_t *counting;                    /* by node: allocations of this time round */
    uint32_t *create_count;               /* by thread: 0, 1, 2 = more */
    DH_VEC(uint32_t) queue;               /* threads found */
    DH_VEC(struct dh_symex_activation *)
    later;                     /* called too deep down: walked from the top, callers took them for recursions */
    uint32_t *contexts_of;     /* by function: frames */
    uint8_t *library;          /* by function: dh_library_role */
    bool has_library;          /* some are of the library */
    struct dh_state ***merged; /* by function and thread, when needed: what holds in all contexts beyond those */
    bool recording;            /* the second time: what the first one learnt counts */
    unsigned depth;
};

/* walk_frames.c */
struct dh_symex_binding dh_symex_binding_of(struct dh_symex *w, const struct dh_symex_activation *f,
                                            struct dh_heap_cell c);
/* Where a cell of the frame's function lies in the program: node DH_NO_NODE when only this thread can know it. */
struct dh_heap_cell dh_symex_bound_cell(struct dh_symex *w, const struct dh_symex_activation *f, struct dh_heap_cell c);
struct dh_symex_activation *dh_symex_get_activation(struct dh_symex *w, const struct dh_symex_activation *wanted,
                                                    uint32_t caller, uint32_t call);
void dh_symex_bind_call(struct dh_symex *w, const struct dh_symex_activation *caller, const struct dh_inst *call,
                        uint32_t first, struct dh_symex_activation *callee);
void dh_symex_bind_instance(struct dh_symex *w, const struct dh_common_instance *in,
                            struct dh_symex_activation *callee);
void dh_symex_find_interfaces(struct dh_symex *w);
/* Something shared is bound to what the function's callers hand in. */
bool dh_symex_binds_shared(struct dh_symex *w, const struct dh_symex_activation *f);

/* walk_state.c */
void dh_state_merge(struct dh_state *into, const struct dh_state *from, bool *moved);
void dh_state_forget_register(struct dh_symex *w, struct dh_state *s, uint32_t function, uint32_t reg);
void dh_state_lock(struct dh_state *s, const struct dh_symex_lock *h);
/* Taken by who holds it: a lock that counts, or the thread would not get there. False: not held. */
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

/* walk_events.c */
uint32_t dh_symex_intern_lockset(struct dh_symex *w, const struct dh_symex_lock *held, unsigned n);
uint32_t dh_symex_intern_order(struct dh_symex *w, const struct dh_state *s);
void dh_symex_add_event(struct dh_symex *w, const struct dh_symex_event *e);
void dh_symex_add_sync_event(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                             const struct dh_inst *i, enum dh_symex_event_kind kind, const struct dh_symex_lock *lock,
                             const struct dh_symex_lock *second, uint32_t flags);
/* Waits for the end of such threads; only told where locks are held meanwhile. */
void dh_symex_add_join_event(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                             const struct dh_inst *i, dh_thread_set joined);
struct dh_symex_lock dh_symex_lock_of_operand(struct dh_symex *w, struct dh_symex_activation *f,
                                              const struct dh_inst *i, uint32_t operand, uint16_t mode);
/* Where an address leads in the graph of the function, DH_NO_CELL: nobody knows. */
struct dh_heap_cell dh_symex_term_cell(struct dh_symex *w, uint32_t function, struct dh_term t);
/* As dh_symex_lock_of_operand for an address in the words of the frame's function. */
struct dh_symex_lock dh_symex_lock_of_term(struct dh_symex *w, struct dh_symex_activation *f, struct dh_term at,
                                           uint32_t inst);
/* Evaluated twice in the frame, the expression gives one value. */
bool dh_symex_is_stable(struct dh_symex *w, const struct dh_symex_activation *f, uint32_t expr);
/* DH_ARG_* bits that a value has in a frame. */
uint8_t dh_symex_attributes(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                            struct dh_term t);

/* walk_reach.c */
/* By custom: the value was found through the object whose lock this is. */
bool dh_symex_found_through_lock(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v,
                                 const struct dh_symex_lock *lock);

/* A number that comes from what this very thread was given: the bounds of its part. */
/* An element of such a number that a callee returned the address of. */
bool dh_symex_is_thread_element(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v);
/* A pointer that was loaded from the element of such a number. */
bool dh_symex_loaded_by_thread_index(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v);
bool dh_symex_is_thread_index(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v);

/* walk_function.c */
void dh_symex_run_function(struct dh_symex *w, struct dh_symex_activation *f);
const struct dh_cfg *dh_symex_cfg(struct dh_symex *w, uint32_t function);
const uint32_t *dh_symex_definitions(struct dh_symex *w, uint32_t function);

/* walk_sync.c */
/* Where in a function: what instructions do depends on it. */
struct dh_symex_step {
    struct dh_symex *w;
    struct dh_symex_activation *f;
    struct dh_state *s;
    const struct dh_inst *i;
    uint32_t inst, block;   /* block: number in the function */
    bool repeated;          /* in a loop of the function */
    bool unwinding;         /* only while an exception is on its way */
    bool counts;            /* the last time round: events are written down */
    struct dh_state thrown; /* what a call leaves when it throws */
};
void dh_symex_access(struct dh_symex_step *t, uint32_t operand, enum dh_symex_event_kind kind, uint32_t flags);
void dh_symex_step_sync(struct dh_symex_step *t);
void dh_symex_step_thread(struct dh_symex_step *t);
void dh_symex_step_joins(struct dh_symex_step *t);
void dh_symex_step_barrier(struct dh_symex_step *t);
uint8_t dh_symex_value_attributes(struct dh_symex_step *t, dh_value v, uint16_t *loop);
/* The element of a loop's round that an expression lies in, 0 = none. `exactly`: once in each round. */
uint32_t dh_symex_loop_element(struct dh_symex_step *t, struct dh_term a, bool exactly, uint16_t *loop);
/* What taking an edge tells: a lock was got, a loop of joins is over. */
void dh_symex_step_edge(struct dh_symex_step *t, uint32_t to, uint32_t number, struct dh_state *s);

/* walk_made.c */
void dh_atomic_sync_access(struct dh_symex_step *t);
void dh_atomic_sync_fence(struct dh_symex_step *t);
void dh_atomic_sync_edge(struct dh_symex_step *t, uint32_t to, uint32_t number, struct dh_state *s);

/* walk_calls.c */
void dh_symex_step_call(struct dh_symex_step *t);

/* walk_objects.c */
/* What a callee is to objects of the C++ library. */
void dh_symex_enter_library_object(struct dh_symex_step *t, uint32_t target, uint32_t first,
                                   struct dh_symex_activation *callee);
bool dh_symex_is_solely_owned(struct dh_symex_step *t, dh_value v);
/* DH_EVENT_* bits of an access that follow from that. */
uint32_t dh_symex_library_object_flags(struct dh_symex_step *t, dh_value address);
void dh_symex_classify_functions(struct dh_symex *w);
/* What a library function does inside of a variable of the function at work, besides the access that stands for it. */
bool dh_symex_is_library_access(struct dh_symex_step *t, dh_value address);
/* The object of the library that an iterator in a local variable goes over, DH_NONE: nobody can tell. */
dh_value dh_symex_iterated_container(struct dh_symex *w, uint32_t function, dh_value slot);
/* What an address was computed from, one step back: also through elements and iterators of objects of the library.
 * DH_NONE: from something else. */
dh_value dh_symex_address_source(struct dh_symex *w, uint32_t function, const struct dh_inst *i);

/* walk_keepers.c */
/* A call of a constructor of std::thread: who keeps it? */
void dh_symex_note_thread_owner(struct dh_symex_step *t, uint32_t target);

/* walk_leaks.c */
/* Fresh objects that the callee makes known though it was only given what leads to them: bits of state.fresh. */
uint32_t dh_symex_escaping_fresh(struct dh_symex_step *t, uint32_t target, uint32_t first);
/* Parameters that a function may leave where its caller does not know: in another object, or for good. By shapes, so
 * what only went through variables of its own is not among them. */
uint32_t dh_symex_escaping_params(struct dh_symex *w, uint32_t function);
/* The same for memory that is copied out of a fresh object. */
void dh_symex_escape_copied(struct dh_symex_step *t, uint32_t source);

/* walk_facts.c */
void dh_symex_summarise_functions(struct dh_symex *w);
void dh_symex_find_shared(struct dh_symex *w);

#endif
