/* Which lock a call takes or gives, when a function in between only hands it on: std::lock_guard, std::mutex::lock,
 * __gthread_mutex_lock, and wrappers of the program's own. Layer: driver (LLVM). Owns its maps; borrows module and
 * sites. */
#ifndef DH_DRIVER_HEAL_LOCKS_H
#define DH_DRIVER_HEAL_LOCKS_H

#include "base/map.h"
#include "base/vec.h"
#include "event/site.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

/* A function that does one thing to one lock, which its caller names. */
struct dh_lock_wrapper {
    uint8_t op;   /* dh_op; DH_OP_NONE: it is none */
    bool through; /* the argument is an object in which a pointer to the lock is */
    unsigned argument;
    int64_t offset; /* into that object */
    int holder;     /* the argument in which it leaves a pointer to the lock, or -1 */
};

struct dh_di;

struct dh_heal_locks {
    const struct dh_site_builder *sites;
    LLVMTargetDataRef layout;
    struct dh_di *di;
    struct dh_u64_map index; /* function -> wrappers */
    DH_VEC(LLVMValueRef) functions;
    DH_VEC(struct dh_lock_wrapper) wrappers;
};

void dh_heal_locks_find(struct dh_heal_locks *l, LLVMModuleRef m, const struct dh_site_builder *sites);

/* What the call does to a lock: DH_OP_NONE when nothing, or when that is up to who calls this function. `name`, owned
 * by the caller, is the same from wherever a lock is come to; NULL when it is not known. */
uint8_t dh_heal_lock_of(const struct dh_heal_locks *l, LLVMValueRef call, char **name);

#endif
