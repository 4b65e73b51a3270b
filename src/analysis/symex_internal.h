/* What the files of the walk share. Layer: analysis. */
#ifndef DH_ANALYSIS_SYMEX_INTERNAL_H
#define DH_ANALYSIS_SYMEX_INTERNAL_H

#include "analysis/atomic_tests.h"
#include "analysis/heuristic_joins.h"
#include "analysis/join_loops.h"
#include "analysis/lock_pair_order.h"
#include "analysis/symex.h"
#include "analysis/value_numbering.h"
#include "model/flow.h"

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
    bool handed_all;                         /* more than fit in `handed` */
    uint16_t tied;                           /* bits of `fresh`: stored in another fresh object */
    uint32_t fresh[DH_FRESH_MAX];            /* leaves: objects of this function that nobody else knows */
    uint32_t handed[DH_ELEMENTS_MAX];        /* may have been given away in this round */
    uint32_t rejoined[DH_ELEMENTS_MAX];      /* threads that were given them have ended in this round: ... */
    dh_threads rejoined_by[DH_ELEMENTS_MAX]; /* these */
    bool handed_by_call;                     /* nobody knows to whom */
    dh_threads started, joined;              /* joined: none of those that were started is alive */
    dh_threads ended;                        /* the same by custom: see ended.h */
    uint32_t alone;                          /* number of the one instance that gets here, + 1; 0 = any */
    uint64_t phase;                          /* set of barriers that may have been the last one */
    struct dh_held locks[DH_LOCKS_MAX];
};

/* What a caller knows of an argument. */
enum dh_attribute {
    DH_ARG_FRESH = 1 << 0,
    DH_ARG_OWN = 1 << 1, /* what this thread instance was given */
    DH_ARG_OWN_VIA = 1 << 2,
    DH_ARG_NEAR = 1 << 4,    /* OWN or OWN_VIA, unless an index leaves the object */
    DH_ARG_NUMBER = 1 << 6,  /* a number that was given to this very thread, or counted from one */
    DH_ARG_MINE = 1 << 5,    /* an object that this very thread made */
    DH_ARG_SOLE = 1 << 7,    /* owned by an object that only this thread knows: walk_objects.c */
    DH_ARG_DISTINCT = 1 << 3 /* another one each time round the caller's loop */
};

/* An object of a summary stands for `node` here, byte 0 at `distance`. */
struct dh_binding {
    uint32_t node;
    int32_t distance;
};

struct dh_frame {
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
    enum { DH_FRAME_NEW, DH_FRAME_RUNNING, DH_FRAME_DONE } status;
    uint64_t from;    /* DH_CACHE_NONE: the call that it was made for, 0 = any */
    uint32_t context; /* in walk.contexts */
    bool called;      /* by some call that counts */
};

/* What a function does, callees included, wherever it is called. */
struct dh_function_facts {
    bool sync, unlocks, touches, barriers, returns_new, waits, throws;
    bool meets;  /* a barrier made by hand, see rendezvous.h */
    bool counts; /* it matters how often it runs: it allocates what is shared */
    dh_threads starts;
    uint32_t escapes; /* parameters, as bits */
};

/* Another call that leads to a context, besides the first one. */
struct dh_caller {
    uint32_t caller, call; /* DH_NONE: there are more */
    uint32_t next;         /* of the same context, in state.callers + 1 */
};

/* Functions of the C++ library: any, members of objects that are accessed as wholes (ir/model_library_objects.c). */
enum dh_walk_library { DH_WALK_OWN, DH_WALK_LIBRARY, DH_WALK_OBJECT, DH_WALK_OWNER };

struct dh_interface {
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
    DH_LOOKED = 1,
    DH_LOOKED_IN_ORDER = 2,
    DH_UNLOCKED = 4,
    DH_MADE_TAKES = 8,
    DH_MADE_GIVES = 16,
    DH_MADE_GOT = 32 /* << side */
};
struct dh_made {
    struct dh_walk *walk;
    struct dh_looks looks;
    DH_VEC(struct dh_atomic_use) uses; /* by place, from the first time on */
    DH_VEC(struct dh_cell) plain;      /* of these places: stored to without an atomic operation */
    uint8_t *looked; /* by instruction: a branch depends on what it found: DH_LOOKED ...; done without a lock */
    uint8_t *nodes;  /* by node: has such places */
};

struct dh_walk_state {
    struct dh_exprs exprs;
    struct dh_made made;
    uint8_t *meetings; /* by function: barriers made of atomics, see phases.h */
    struct dh_function_facts *facts;
    struct dh_interface *interfaces; /* by group */
    uint32_t *interface_number;      /* by node: its place in the interface of its group, DH_NONE */
    dh_threads *accessed;            /* by node */
    struct dh_flow **flows;          /* by function, read when needed */
    uint32_t *returned;      /* by function: parameters through which it finds what it returns, see walk_reach.c */
    uint8_t **cleanups;      /* by function: blocks that only clean up, NULL = not asked yet */
    uint32_t **defined;      /* by function: which instruction assigns a register */
    uint32_t **hanging;      /* by function, when needed: see walk_leaks.c */
    struct dh_cell *handles; /* by thread: where its handle is stored, DH_NO_CELL: not one place */
    struct dh_joins joins;
    struct dh_ends ends;
    struct dh_pair_order pairs;
    DH_VEC(struct dh_frame *) frames;
    DH_VEC(struct dh_binding) bindings;
    DH_VEC(struct dh_caller) callers;
    DH_VEC(uint32_t) callers_of; /* by context: first in callers + 1, 0 = none; may be shorter */
    uint32_t *frame_slot, *set_slot, *order_slot, *event_slot;
    size_t frame_mask, set_mask, order_mask, event_mask;
    DH_VEC(uint32_t) barriers;       /* instructions; a barrier is a bit of dh_state.phase */
    DH_VEC(struct dh_cell) unstable; /* fields stored to when others may read them; sorted when recording */
    uint8_t *counting;               /* by node: allocations of this time round */
    uint32_t *create_count;          /* by thread: 0, 1, 2 = more */
    DH_VEC(uint32_t) queue;          /* threads found */
    DH_VEC(struct dh_frame *) later; /* called too deep down: walked from the top, callers took them for recursions */
    uint32_t *contexts_of;           /* by function: frames */
    uint8_t *library;                /* by function: dh_walk_library */
    bool has_library;                /* some are of the library */
    struct dh_state ***merged;       /* by function and thread, when needed: what holds in all contexts beyond those */
    bool recording;                  /* the second time: what the first one learnt counts */
    unsigned depth;
};

/* walk_frames.c */
struct dh_binding dh_walk_bind(struct dh_walk *w, const struct dh_frame *f, struct dh_cell c);
/* Where a cell of the frame's function lies in the program: node DH_NO_NODE when only this thread can know it. */
struct dh_cell dh_walk_place(struct dh_walk *w, const struct dh_frame *f, struct dh_cell c);
struct dh_frame *dh_walk_frame(struct dh_walk *w, const struct dh_frame *wanted, uint32_t caller, uint32_t call);
void dh_walk_bind_call(struct dh_walk *w, const struct dh_frame *caller, const struct dh_inst *call, uint32_t first,
                       struct dh_frame *callee);
void dh_walk_bind_instance(struct dh_walk *w, const struct dh_instance *in, struct dh_frame *callee);
void dh_walk_interfaces(struct dh_walk *w);
/* Something shared is bound to what the function's callers hand in. */
bool dh_walk_binds_shared(struct dh_walk *w, const struct dh_frame *f);

/* walk_state.c */
void dh_state_merge(struct dh_state *into, const struct dh_state *from, bool *moved);
void dh_state_forget_register(struct dh_walk *w, struct dh_state *s, uint32_t function, uint32_t reg);
void dh_state_lock(struct dh_state *s, const struct dh_held *h);
/* Taken by who holds it: a lock that counts, or the thread would not get there. False: not held. */
bool dh_state_lock_again(struct dh_state *s, const struct dh_held *h);
void dh_state_unlock(struct dh_state *s, struct dh_cell at, uint32_t expr);
bool dh_state_is_fresh(const struct dh_state *s, uint32_t leaf);
void dh_state_new(struct dh_state *s, uint32_t leaf);
void dh_state_escape(struct dh_state *s, uint32_t leaf);
void dh_state_tie(struct dh_state *s, uint32_t leaf);
void dh_state_hand(struct dh_state *s, uint32_t expr);
bool dh_state_handed(const struct dh_state *s, uint32_t expr);
void dh_state_rejoin(struct dh_state *s, uint32_t expr, dh_threads by);
dh_threads dh_state_rejoined(const struct dh_state *s, uint32_t expr);

/* walk_events.c */
uint32_t dh_walk_lockset(struct dh_walk *w, const struct dh_held *held, unsigned n);
uint32_t dh_walk_order(struct dh_walk *w, const struct dh_state *s);
void dh_walk_event(struct dh_walk *w, const struct dh_event *e);
void dh_walk_sync_event(struct dh_walk *w, struct dh_frame *f, const struct dh_state *s, const struct dh_inst *i,
                        enum dh_event_kind kind, const struct dh_held *lock, const struct dh_held *second,
                        uint32_t flags);
/* Waits for the end of such threads; only told where locks are held meanwhile. */
void dh_walk_join_event(struct dh_walk *w, struct dh_frame *f, const struct dh_state *s, const struct dh_inst *i,
                        dh_threads joined);
struct dh_held dh_walk_held(struct dh_walk *w, struct dh_frame *f, const struct dh_inst *i, uint32_t operand,
                            uint16_t mode);
/* Where an address leads in the graph of the function, DH_NO_CELL: nobody knows. */
struct dh_cell dh_walk_term_cell(struct dh_walk *w, uint32_t function, struct dh_term t);
/* As dh_walk_held for an address in the words of the frame's function. */
struct dh_held dh_walk_held_at(struct dh_walk *w, struct dh_frame *f, struct dh_term at, uint32_t inst);
/* Evaluated twice in the frame, the expression gives one value. */
bool dh_walk_stable(struct dh_walk *w, const struct dh_frame *f, uint32_t expr);
/* DH_ARG_* bits that a value has in a frame. */
uint8_t dh_walk_attributes(struct dh_walk *w, struct dh_frame *f, const struct dh_state *s, struct dh_term t);

/* walk_reach.c */
/* By custom: the value was found through the object whose lock this is. */
bool dh_walk_reaches(struct dh_walk *w, const struct dh_frame *f, dh_value v, const struct dh_held *lock);

/* A number that comes from what this very thread was given: the bounds of its part. */
/* An element of such a number that a callee returned the address of. */
bool dh_walk_own_element(struct dh_walk *w, const struct dh_frame *f, dh_value v);
/* A pointer that was loaded from the element of such a number. */
bool dh_walk_found_by_number(struct dh_walk *w, const struct dh_frame *f, dh_value v);
bool dh_walk_own_number(struct dh_walk *w, const struct dh_frame *f, dh_value v);

/* walk_function.c */
void dh_walk_function(struct dh_walk *w, struct dh_frame *f);
const struct dh_flow *dh_walk_flow(struct dh_walk *w, uint32_t function);
const uint32_t *dh_walk_defined(struct dh_walk *w, uint32_t function);

/* walk_sync.c */
/* Where in a function: what instructions do depends on it. */
struct dh_step {
    struct dh_walk *w;
    struct dh_frame *f;
    struct dh_state *s;
    const struct dh_inst *i;
    uint32_t inst, block;   /* block: number in the function */
    bool repeated;          /* in a loop of the function */
    bool unwinding;         /* only while an exception is on its way */
    bool counts;            /* the last time round: events are written down */
    struct dh_state thrown; /* what a call leaves when it throws */
};
void dh_walk_access(struct dh_step *t, uint32_t operand, enum dh_event_kind kind, uint32_t flags);
void dh_step_sync(struct dh_step *t);
void dh_step_thread(struct dh_step *t);
void dh_step_joined(struct dh_step *t);
void dh_step_barrier(struct dh_step *t);
uint8_t dh_step_attributes(struct dh_step *t, dh_value v, uint16_t *loop);
/* The element of a loop's round that an expression lies in, 0 = none. `exactly`: once in each round. */
uint32_t dh_step_element(struct dh_step *t, struct dh_term a, bool exactly, uint16_t *loop);
/* What taking an edge tells: a lock was got, a loop of joins is over. */
void dh_step_edge(struct dh_step *t, uint32_t to, uint32_t number, struct dh_state *s);

/* walk_made.c */
void dh_made_access(struct dh_step *t);
void dh_made_fence(struct dh_step *t);
void dh_made_edge(struct dh_step *t, uint32_t to, uint32_t number, struct dh_state *s);

/* walk_calls.c */
void dh_step_call(struct dh_step *t);

/* walk_objects.c */
/* What a callee is to objects of the C++ library. */
void dh_walk_objects(struct dh_step *t, uint32_t target, uint32_t first, struct dh_frame *callee);
bool dh_walk_is_sole(struct dh_step *t, dh_value v);
/* DH_EVENT_* bits of an access that follow from that. */
uint32_t dh_walk_object_flags(struct dh_step *t, dh_value address);
void dh_walk_find_library(struct dh_walk *w);
/* What a library function does inside of a variable of the function at work, besides the access that stands for it. */
bool dh_walk_is_own_work(struct dh_step *t, dh_value address);
/* The object of the library that an iterator in a local variable goes over, DH_NONE: nobody can tell. */
dh_value dh_walk_iterated(struct dh_walk *w, uint32_t function, dh_value slot);
/* What an address was computed from, one step back: also through elements and iterators of objects of the library.
 * DH_NONE: from something else. */
dh_value dh_walk_source(struct dh_walk *w, uint32_t function, const struct dh_inst *i);

/* walk_keepers.c */
/* A call of a constructor of std::thread: who keeps it? */
void dh_walk_keeper(struct dh_step *t, uint32_t target);

/* walk_leaks.c */
/* Fresh objects that the callee makes known though it was only given what leads to them: bits of state.fresh. */
uint32_t dh_walk_leaks(struct dh_step *t, uint32_t target, uint32_t first);
/* Parameters that a function may leave where its caller does not know: in another object, or for good. By shapes, so
 * what only went through variables of its own is not among them. */
uint32_t dh_walk_kept(struct dh_walk *w, uint32_t function);
/* The same for memory that is copied out of a fresh object. */
void dh_walk_copies(struct dh_step *t, uint32_t source);

/* walk_facts.c */
void dh_walk_facts(struct dh_walk *w);
void dh_walk_share(struct dh_walk *w);

#endif
