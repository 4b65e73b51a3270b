#include "instrument/heal_held_groups.h"

#include "base/alloc.h"

#include <stdlib.h>

void dh_heal_held_groups_init(struct dh_heal_held_groups *h, const struct dh_heal_object_locks *o)
{
    h->objects = o;
    h->by_section = dh_xcalloc(o->index.n + 1, sizeof *h->by_section);
    h->on_entry = dh_xcalloc(o->index.n + 1, sizeof *h->on_entry);
}

void dh_heal_held_groups_release(struct dh_heal_held_groups *h)
{
    free(h->by_section);
    free(h->on_entry);
}

static uint64_t *number_of(const struct dh_heal_held_groups *h, LLVMValueRef function)
{
    return dh_u64_map_find(&h->objects->index, (uintptr_t)function);
}

/* A wait closes open sections: no group is held after it. */
void dh_heal_held_groups_add(struct dh_heal_held_groups *h, LLVMValueRef function, uint32_t group)
{
    uint64_t *at = number_of(h, function);
    if (at && !h->objects->may_wait[*at])
        h->by_section[*at] |= (uint64_t)1 << group;
}

/* All calls of it are visible direct calls. */
static bool is_only_called(LLVMValueRef f)
{
    LLVMLinkage linkage = LLVMGetLinkage(f);
    return LLVMGetFirstUse(f) && (linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage) &&
           !dh_heal_is_address_taken(f) && !dh_function_has(f, "presplitcoroutine");
}

/* Groups that are held at every call; a musttail call comes after the sections are closed. */
static uint64_t held_at_calls(const struct dh_heal_held_groups *h, LLVMValueRef f)
{
    uint64_t all = ~h->objects->groups;
    for (LLVMUseRef u = LLVMGetFirstUse(f); u && all; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        uint64_t *caller = number_of(h, LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
        all &= caller && !dh_is_musttail(call) ? h->by_section[*caller] | h->on_entry[*caller] : 0;
    }
    return all;
}

/* Greatest fixpoint: recursive functions hold what their first caller holds. */
void dh_heal_held_groups_find(struct dh_heal_held_groups *h, LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && is_only_called(f))
            h->on_entry[*number_of(h, f)] = ~h->objects->groups;
    for (bool changed = true; changed;) {
        changed = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
            uint64_t *on_entry = LLVMIsDeclaration(f) ? NULL : &h->on_entry[*number_of(h, f)];
            uint64_t now = on_entry && *on_entry ? held_at_calls(h, f) : 0;
            changed |= on_entry && *on_entry != now;
            if (on_entry)
                *on_entry = now;
        }
    }
}

bool dh_heal_is_held_on_entry(const struct dh_heal_held_groups *h, LLVMValueRef function, uint32_t group)
{
    uint64_t *at = number_of(h, function);
    return at && h->on_entry[*at] >> group & 1;
}

bool dh_heal_is_held(const struct dh_heal_held_groups *h, LLVMValueRef function, uint32_t group)
{
    uint64_t *at = number_of(h, function);
    return at && (h->by_section[*at] | h->on_entry[*at]) >> group & 1;
}
