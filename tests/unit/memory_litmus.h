/* Litmus programs as text, and everything a memory model lets them do: all schedules, all values, through the model's
 * interface with snapshot and restore.
 *
 *   "x=1; F.sc; a=y | y=1; a==0?; b=x"   threads by |, operations by ;
 *
 * Variables are w x y z, registers a to j, each used by one thread. An order is a suffix: rlx acq rel ar sc; none: a
 * plain access. x=1, x=a, x=a+1 store; a=x loads; a=x+=1 and a=x:=1 are updates; a=x?0:1 compares and exchanges;
 * F.sc is a fence; `lock` and `unlock` (or lock2, unlock2) a mutex; `a==1?` ends the thread unless it is so. */
#ifndef DH_TESTS_MEMORY_LITMUS_H
#define DH_TESTS_MEMORY_LITMUS_H

#include "memory/model.h"

enum { LITMUS_THREADS = 4, LITMUS_OPS = 8, LITMUS_REGISTERS = 10, LITMUS_VARIABLES = 4, LITMUS_LOCKS = 2 };

enum litmus_kind { OP_LOAD, OP_STORE, OP_ADD, OP_SWAP, OP_CAS, OP_FENCE, OP_LOCK, OP_UNLOCK, OP_IF };

struct litmus_op {
    uint8_t kind, order;
    uint8_t variable;      /* or lock */
    uint8_t to;            /* register */
    int8_t from;           /* register whose value is added; -1: none */
    uint8_t value, wanted; /* `wanted`: of CAS */
};

struct litmus {
    unsigned threads;
    unsigned n[LITMUS_THREADS];
    struct litmus_op op[LITMUS_THREADS][LITMUS_OPS];
    bool register_used[LITMUS_REGISTERS];
    bool final[LITMUS_VARIABLES]; /* the outcome shows what it holds in the end */
};

/* Outcomes: registers in order of the alphabet, then final values, a digit each. A sorted set. */
struct outcomes {
    unsigned n;
    uint64_t at[4096];
};

/* Fails the process on text it does not understand. `final`: variables, "xy". */
void litmus_parse(struct litmus *l, const char *text, const char *final);
void litmus_print(const struct litmus *l, char *out, size_t size);

void outcomes_add(struct outcomes *o, uint64_t outcome);
bool outcomes_has(const struct outcomes *o, uint64_t outcome);
bool outcomes_equal(const struct outcomes *a, const struct outcomes *b);
bool outcomes_within(const struct outcomes *a, const struct outcomes *b);
void outcomes_print(const struct litmus *l, const struct outcomes *o, char *out, size_t size);
/* "00 01": digits as above. */
void outcomes_parse(struct outcomes *o, const char *text);
uint64_t litmus_outcome(const struct litmus *l, const uint8_t *registers, const uint8_t *variables);

struct litmus_run {
    const struct dh_memory_model *model;
    uint32_t history;
    bool no_gc;
    bool external_clocks;
    struct dh_memory_lost lost;
    uint64_t runs;
};
/* All of them. hbmm: again and again, until nothing new is foreseen. */
void litmus_explore(struct litmus_run *run, const struct litmus *l, struct outcomes *out);

/* A program by chance. */
struct litmus_taste {
    unsigned threads, ops; /* at most */
    unsigned variables;
    const char *orders; /* digits: enum dh_order to choose from */
    bool updates, fences, locks, dependencies;
};
void litmus_random(struct litmus *l, const struct litmus_taste *taste, uint64_t *seed);

#endif
