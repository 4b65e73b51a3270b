/* Groups of a healing policy that are held throughout a function: by a section that is the whole function, or because
 * every call of it is inside of one. Accesses there need not acquire the group again. Layer: instrument. Computed
 * before hooks are placed, as a greatest fixpoint over the call graph. The owner of the struct owns its arrays. */
#ifndef DH_INSTRUMENT_HEAL_HELD_GROUPS_H
#define DH_INSTRUMENT_HEAL_HELD_GROUPS_H

#include "instrument/heal_object_locks.h"

struct dh_heal_held_groups {
    const struct dh_heal_object_locks *objects; /* borrowed */
    uint64_t *own;                              /* per function, a bit for each group: by a section of its own */
    uint64_t *given;                            /* and by whoever calls it */
};

void dh_heal_held_groups_init(struct dh_heal_held_groups *h, const struct dh_heal_object_locks *o);
/* A section of the group is the whole function. */
void dh_heal_held_groups_add(struct dh_heal_held_groups *h, LLVMValueRef function, uint32_t group);
/* After all are added. A lock for each object is not handed on: others may be meant further down. */
void dh_heal_held_groups_find(struct dh_heal_held_groups *h, LLVMModuleRef m);
bool dh_heal_is_held(const struct dh_heal_held_groups *h, LLVMValueRef function, uint32_t group);
/* By who calls it. */
bool dh_heal_is_held_on_entry(const struct dh_heal_held_groups *h, LLVMValueRef function, uint32_t group);
void dh_heal_held_groups_release(struct dh_heal_held_groups *h);

#endif
