/* Groups of a healing policy that are held throughout a function: by a section that is the whole function, or because
 * every call of it is inside of one. Accesses there need not acquire the group again. Layer: instrument. Computed
 * before hooks are placed, as a greatest fixpoint over the call graph. The owner of the struct owns its arrays. */
#ifndef DH_INSTRUMENT_HEAL_HELD_GROUPS_H
#define DH_INSTRUMENT_HEAL_HELD_GROUPS_H

#include "instrument/heal_object_locks.h"

struct dh_heal_held_groups {
    const struct dh_heal_object_locks *objects; /* borrowed */
    uint64_t *by_section; /* per function, a bit for each group: by a section that is the function */
    uint64_t *on_entry;   /* held by all callers */
};

void dh_heal_held_groups_init(struct dh_heal_held_groups *h, const struct dh_heal_object_locks *o);
/* A section of the group is the whole function. */
void dh_heal_held_groups_add(struct dh_heal_held_groups *h, LLVMValueRef function, uint32_t group);
/* After all are added. Groups with a lock per object are left out: a callee may access other objects. */
void dh_heal_held_groups_find(struct dh_heal_held_groups *h, LLVMModuleRef m);
bool dh_heal_is_held(const struct dh_heal_held_groups *h, LLVMValueRef function, uint32_t group);
/* Held by all its callers. */
bool dh_heal_is_held_on_entry(const struct dh_heal_held_groups *h, LLVMValueRef function, uint32_t group);
void dh_heal_held_groups_release(struct dh_heal_held_groups *h);

#endif
