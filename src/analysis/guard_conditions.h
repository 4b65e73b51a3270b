/* Words that threads give each other: variables that are set and tested under a lock, semaphores, and what a library
 * says of both. A word that is set opens gates; a gate is a branch that tests a word. Layer: analysis.
 * For customs only (waited.h): values are followed through calls, copies and conditions, not through memory. */
#ifndef DH_ANALYSIS_GUARD_CONDITIONS_H
#define DH_ANALYSIS_GUARD_CONDITIONS_H

#include "analysis/symex.h"
#include "base/set.h"

/* A function on the way: called from `up`, or as the walk found it. */
struct dh_call_path {
    uint32_t function, call;
    const struct dh_call_path *up; /* NULL: `context` tells */
    uint32_t context;
    uint32_t level; /* for who walks: one number for each */
};

enum dh_guard_access_kind { DH_GUARD_TEST, DH_GUARD_SET };
enum dh_guard_change { DH_GUARD_ASSIGNED, DH_GUARD_INCREASED, DH_GUARD_DECREASED, DH_GUARD_CHANGED };

struct dh_guard_access {
    enum dh_guard_access_kind kind;
    struct dh_heap_cell at;
    enum dh_compare relation;    /* GATE: what holds behind it; OTHER: it was tested */
    enum dh_guard_change change; /* SET */
    bool known;                  /* `number` is */
    bool taking;                 /* SET by who waited for it to be there: a semaphore's wait */
    bool library;                /* SET by a semaphore, an atomic count or what a library says */
    int64_t number;
    uint32_t inst; /* the load or the store */
};

#define DH_GUARD_WHOLE_OBJECT INT32_MIN /* offset: what is acquired is the object, wherever the library counts in it */

enum { DH_GUARDS_PER_EDGE = 8, DH_CALL_PATHS_MAX = 64 };

struct dh_guards {
    struct dh_symex *symex;
    uint8_t *locked; /* by instruction: 1 = accesses something shared, always under a lock, 2, 3 = not always, 4 = waits
                        or posts */
    uint8_t *speaks; /* by function: it or a callee gives or tests words */
    uint64_t *about; /* by function: objects that it and its callees use, as dh_guards_object_bit */
    struct dh_symex_activation **frame; /* by context */
    struct dh_heap_cell *place;         /* by instruction: the only one it accesses, DH_NO_CELL: several */
    uint32_t *reads;                    /* by instruction: an event that is its reading, + 1 */
    uint32_t *set;                      /* events that set something, by place */
    uint32_t n_set;
    struct dh_u64_set tested;                    /* cells that are tested under a lock */
    struct dh_call_path made[DH_CALL_PATHS_MAX]; /* of one question */
    unsigned n_made;
    unsigned steps;
};

static inline uint64_t dh_guards_object_bit(uint32_t node)
{
    return (uint64_t)1 << ((node * 0x9e3779b1u) >> 26);
}

void dh_guards_init(struct dh_guards *x, struct dh_symex *w);
void dh_guards_release(struct dh_guards *x);
/* What the instruction sets; false: nothing that anybody waits for. */
bool dh_guards_set_by(struct dh_guards *x, const struct dh_call_path *at, uint32_t inst, struct dh_guard_access *word);
/* The instruction waits until the word was given, as a library says. */
bool dh_guards_awaited_by(struct dh_guards *x, const struct dh_call_path *at, uint32_t inst,
                          struct dh_guard_access *word);
/* What is known on the way from the end of block `from` to `to`; numbers of the whole program. */
unsigned dh_guards_on_edge(struct dh_guards *x, const struct dh_call_path *at, uint32_t from, uint32_t to,
                           struct dh_guard_access *words);
bool dh_guards_is_tested(const struct dh_guards *x, struct dh_heap_cell at);
/* The instruction, or what it calls, may give or test a word. */
bool dh_guards_involve(const struct dh_guards *x, uint32_t inst);
/* A callee as seen from a call, NULL: too many. */
const struct dh_call_path *dh_guards_enter_callee(struct dh_guards *x, const struct dh_call_path *at, uint32_t call,
                                                  uint32_t function);
/* The value that was set may be one that opens the gate. */
bool dh_guard_may_satisfy(const struct dh_guard_access *set, const struct dh_guard_access *gate);
/* As long as that value stays, the gate is closed. */
bool dh_guard_blocks(const struct dh_guard_access *set, const struct dh_guard_access *gate);
/* No value passes both. */
bool dh_guards_contradict(const struct dh_guard_access *one, const struct dh_guard_access *other);
/* First of x->set with this place; x->n_set: none. */
uint32_t dh_guards_first_set(const struct dh_guards *x, struct dh_heap_cell at);
/* What an event of x->set may set, locked or not, by each way it is called; at most `most`. */
unsigned dh_guards_values_set(struct dh_guards *x, uint32_t event, struct dh_guard_access *words, unsigned most);

#endif
