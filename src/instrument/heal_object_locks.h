/* Mod/ref summaries of functions for each healing group, and which groups can have a lock per object instead of one
 * lock: those whose sections access only objects that are known at their entry, at most two, whose locks are acquired
 * together. Layer: instrument. Computed before hooks are placed. The owner of the struct owns its arrays. */
#ifndef DH_INSTRUMENT_HEAL_OBJECT_LOCKS_H
#define DH_INSTRUMENT_HEAL_OBJECT_LOCKS_H

#include "event/heal.h"
#include "instrument/pass.h"

enum { DH_HEAL_OBJECTS = 2 };

/* A variable of an object that a function gets as argument, at an offset from it. */
struct dh_heal_object_argument {
    unsigned argument;
    int64_t offset;
};

/* Mod/ref summary: what a function and its callees may access of a group. */
struct dh_heal_summary {
    struct dh_heal_object_argument at[DH_HEAL_OBJECTS];
    uint8_t n;
    uint8_t writes;  /* at most so many in one activation; 2 is any number */
    bool any, other; /* other: accesses beyond its arguments, or more than DH_HEAL_OBJECTS */
};

struct dh_heal_object_locks {
    uint64_t groups; /* a bit for each that can have a lock per object */
    struct dh_u64_map index;
    struct dh_heal_summary *summaries[DH_HEAL_MOST_GROUPS]; /* of groups with one variable that are healed by a lock */
    bool *may_wait; /* per function: it or a callee may wait for other threads */
};

struct dh_heal_sections {
    const struct dh_heal_plan *plan;
    const uint8_t *ops; /* per site */
    uint32_t n_sites;
    const bool *is_local; /* per section */
};

void dh_heal_object_locks_find(struct dh_heal_object_locks *o, struct dh_pass *pass, const struct dh_heal_sections *s);
/* A call that may wait for other threads; sections are closed before it. */
bool dh_heal_op_may_wait(uint8_t op);
/* It may be called other than by visible direct calls. */
bool dh_heal_is_address_taken(LLVMValueRef function);
/* It may call itself, directly or not. */
bool dh_heal_object_locks_is_recursive(const struct dh_heal_object_locks *o, LLVMValueRef function);
void dh_heal_object_locks_release(struct dh_heal_object_locks *o);
/* NULL: nothing is known. */
const struct dh_heal_summary *dh_heal_object_locks_summary(const struct dh_heal_object_locks *o, uint32_t group,
                                                           LLVMValueRef function);

#endif
