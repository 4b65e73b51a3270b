/* Guard variables: set and tested under a lock; semaphores and what library models say of both. A branch that tests one
 * is a guard test; writing a value that satisfies the test lets the waiting thread on. Layer: analysis. For heuristics
 * only (wait_order.h): values are followed through calls, copies and conditions, not through memory. */
#ifndef DH_ANALYSIS_GUARD_CONDITIONS_H
#define DH_ANALYSIS_GUARD_CONDITIONS_H

#include "analysis/symex.h"
#include "base/set.h"

/* An activation during the search: called from `up`, or in a context of symbolic execution. */
struct dh_call_path {
    uint32_t function, call;
    const struct dh_call_path *up; /* NULL: `context` says */
    uint32_t context;
};

enum dh_guard_access_kind { DH_GUARD_TEST, DH_GUARD_SET };
enum dh_guard_change { DH_GUARD_ASSIGNED, DH_GUARD_INCREASED, DH_GUARD_DECREASED, DH_GUARD_CHANGED };

struct dh_guard_access {
    enum dh_guard_access_kind kind;
    struct dh_heap_cell at;
    enum dh_compare relation;    /* TEST: what holds after it; OTHER: it was tested */
    enum dh_guard_change change; /* SET */
    bool known;                  /* `number` is */
    bool taking;                 /* SET by a thread that waited for it: a semaphore's wait */
    bool library;                /* SET by a semaphore, an atomic count or a library model */
    int64_t number;
    uint32_t inst; /* the load or the store */
};

#define DH_GUARD_WHOLE_OBJECT                                                                                          \
    INT32_MIN /* offset: what is acquired is the object, wherever the library counts in it                             \
               */

enum { DH_GUARDS_PER_EDGE = 8, DH_CALL_PATHS_MAX = 64 };

struct dh_guards {
    struct dh_symex *symex;
    uint8_t *locked; /* by instruction: 1 = accesses something shared, always under a lock, 2, 3 = not always, 4 = waits
                        or posts */
    uint8_t *involved; /* by function: it or a callee sets or tests guards */
    uint64_t *about;   /* by function: objects that it and its callees access, as dh_guards_object_bit */
    struct dh_symex_activation **frame; /* by context */
    struct dh_heap_cell *place;         /* by instruction: the only one it accesses, DH_NO_CELL: several */
    uint32_t *reads;                    /* by instruction: an event of its read, + 1 */
    uint32_t *set;                      /* events that set a variable, by heap cell */
    uint32_t n_set;
    struct dh_u64_set tested;                     /* cells that are tested under a lock */
    struct dh_call_path paths[DH_CALL_PATHS_MAX]; /* of one query */
    unsigned n_paths;
    unsigned steps;
};

static inline uint64_t dh_guards_object_bit(uint32_t node)
{
    return (uint64_t)1 << ((node * 0x9e3779b1u) >> 26);
}

/* The argument that a parameter is, in the caller; false where a thread begins. */
bool dh_call_path_argument(const struct dh_symex *w, const struct dh_call_path *at, uint32_t param,
                           struct dh_call_path *caller, dh_value *v);

void dh_guards_init(struct dh_guards *x, struct dh_symex *w);
void dh_guards_release(struct dh_guards *x);
/* The guard that the instruction sets; false: none that is tested. */
bool dh_guards_set_by(struct dh_guards *x, const struct dh_call_path *at, uint32_t inst,
                      struct dh_guard_access *access);
/* The guard that the instruction waits for, by the library model. */
bool dh_guards_awaited_by(struct dh_guards *x, const struct dh_call_path *at, uint32_t inst,
                          struct dh_guard_access *access);
/* Tests that hold on the edge from block `from` to `to` (numbers of the whole program). */
unsigned dh_guards_on_edge(struct dh_guards *x, const struct dh_call_path *at, uint32_t from, uint32_t to,
                           struct dh_guard_access *accesses);
bool dh_guards_is_tested(const struct dh_guards *x, struct dh_heap_cell at);
/* The instruction, or what it calls, may set or test a guard. */
bool dh_guards_involve(const struct dh_guards *x, uint32_t inst);
/* A callee as seen from a call, NULL: too many. */
const struct dh_call_path *dh_guards_enter_callee(struct dh_guards *x, const struct dh_call_path *at, uint32_t call,
                                                  uint32_t function);
/* The value that was set may satisfy the test. */
bool dh_guard_may_satisfy(const struct dh_guard_access *set, const struct dh_guard_access *test);
/* As long as that value stays, the test fails. */
bool dh_guard_blocks(const struct dh_guard_access *set, const struct dh_guard_access *test);
/* No value satisfies both. */
bool dh_guards_contradict(const struct dh_guard_access *one, const struct dh_guard_access *other);
/* First of x->set on this heap cell; x->n_set: none. */
uint32_t dh_guards_first_set(const struct dh_guards *x, struct dh_heap_cell at);
/* What an event of x->set may set, locked or not, for each caller; at most `most`. */
unsigned dh_guards_values_set(struct dh_guards *x, uint32_t event, struct dh_guard_access *accesses, unsigned most);

#endif
