/* Which lock a call acquires or releases through wrappers: std::lock_guard, std::mutex::lock, __gthread_mutex_lock, and
 * functions of the program's own that pass a lock on. Layer: heal (LLVM). Owns its maps; borrows module and
 * sites. */
#ifndef DH_HEAL_LOCK_WRAPPERS_H
#define DH_HEAL_LOCK_WRAPPERS_H

#include "base/map.h"
#include "base/vec.h"
#include "event/site.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

/* A function that does one thing to one lock, which an argument leads to. */
struct dh_lock_wrapper {
    uint8_t op;   /* dh_op; DH_OP_NONE: it is no wrapper */
    bool through; /* the argument is an object in which a pointer to the lock is */
    unsigned argument;
    int64_t offset; /* into that object */
    int holder;     /* the argument in which it leaves a pointer to the lock, or -1 */
};

struct dh_di;

struct dh_lock_wrappers {
    const struct dh_site_builder *sites;
    LLVMTargetDataRef layout;
    struct dh_di *di;
    struct dh_u64_map index; /* function -> wrappers */
    DH_VEC(LLVMValueRef) functions;
    DH_VEC(struct dh_lock_wrapper) wrappers;
};

void dh_lock_wrappers_find(struct dh_lock_wrappers *l, LLVMModuleRef m, const struct dh_site_builder *sites);

/* What the call does to a lock: DH_OP_NONE when nothing, or when that depends on the caller of this function. `name`,
 * owned by the caller, is the same by whatever path a lock is reached; NULL when it is not known. */
uint8_t dh_lock_operation(const struct dh_lock_wrappers *l, LLVMValueRef call, char **name);

#endif
