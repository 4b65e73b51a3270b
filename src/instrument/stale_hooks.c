#include "instrument/stale_hooks.h"

#include "event/hooks.h"
#include "instrument/atomic_hooks.h"
#include "instrument/places.h"
#include "instrument/value_bits.h"

#include <string.h>

void dh_stale_hooks_release(struct dh_stale_hooks *s)
{
    dh_vec_release(&s->slots);
    dh_vec_release(&s->locals);
}

void dh_stale_hooks_next_function(struct dh_stale_hooks *s)
{
    s->slots.n = 0;
    s->locals.n = 0;
}

/* The row of a size in each group of hooks. */
static int row_of(const struct dh_memop *a)
{
    static const uint64_t sizes[] = {1, 2, 4, 8};
    for (int i = 0; i < 4; i++)
        if (sizes[i] == a->bytes)
            return dh_value_is_scalar(a->type) ? i : -1;
    return -1;
}

static void gone(const struct dh_memop *a, LLVMValueRef result)
{
    if (result)
        LLVMReplaceAllUsesWith(a->at, result);
    LLVMInstructionEraseFromParent(a->at);
}

static LLVMValueRef slot_for(struct dh_stale_hooks *s, struct dh_pass *pass, const struct dh_memop *a)
{
    for (size_t i = 0; i < s->slots.n; i++)
        if (LLVMGetAllocatedType(s->slots.at[i]) == a->type)
            return s->slots.at[i];
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(a->at)));
    LLVMPositionBuilderBefore(pass->b, LLVMGetFirstInstruction(entry));
    LLVMSetCurrentDebugLocation2(pass->b, NULL);
    LLVMValueRef slot = LLVMBuildAlloca(pass->b, a->type, "");
    dh_vec_push(&s->slots, slot);
    return slot;
}

/* Keeps an access in the program's code for another sanitizer that is enabled as well. */
static void keep_for_sanitizer(struct dh_pass *pass, const struct dh_memop *a)
{
    LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(a->at));
    if (!dh_function_has(f, "sanitize_address"))
        return;
    LLVMValueRef looked = LLVMBuildLoad2(pass->b, a->type, a->addr, "");
    LLVMSetVolatile(looked, 1);
    LLVMSetAlignment(looked, LLVMGetAlignment(a->at));
}

static void look_at_byte(struct dh_pass *pass, LLVMValueRef at)
{
    LLVMValueRef looked = LLVMBuildLoad2(pass->b, LLVMInt8TypeInContext(pass->c), at, "");
    LLVMSetVolatile(looked, 1);
    LLVMSetAlignment(looked, 1);
}

/* The same for a copy: its first and last bytes. For an empty copy, a byte of our own. */
static void keep_range_for_sanitizer(struct dh_stale_hooks *s, struct dh_pass *pass, const struct dh_memop *a)
{
    LLVMTypeRef byte = LLVMInt8TypeInContext(pass->c);
    struct dh_memop one = {.at = a->at, .type = byte};
    if (!dh_function_has(LLVMGetBasicBlockParent(LLVMGetInstructionParent(a->at)), "sanitize_address"))
        return;
    LLVMValueRef nothing = slot_for(s, pass, &one);
    dh_pass_position_before(pass, a->at);
    LLVMValueRef size = dh_pass_size_u64(pass, a->size), zero = dh_pass_u64(pass, 0);
    LLVMValueRef any = LLVMBuildICmp(pass->b, LLVMIntNE, size, zero, "");
    LLVMValueRef last = LLVMBuildSub(pass->b, size, dh_pass_u64(pass, 1), "");
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef from = i ? a->src : a->addr;
        if (!from)
            continue;
        LLVMValueRef end = LLVMBuildGEP2(pass->b, byte, from, &last, 1, "");
        look_at_byte(pass, LLVMBuildSelect(pass->b, any, from, nothing, ""));
        look_at_byte(pass, LLVMBuildSelect(pass->b, any, end, nothing, ""));
    }
}

/* ---- each kind ---- */

/* The `what` operand of a memory access; its size is an operand of its own. */
static LLVMValueRef what_of(struct dh_pass *pass, const struct dh_memop *a, bool sized)
{
    uint32_t what = dh_memop_what(a);
    return dh_pass_u32(pass, sized ? what : (what & 0xFFFF) | a->more);
}

static void place_load(struct dh_stale_hooks *s, struct dh_pass *pass, const struct dh_memop *a, LLVMValueRef place)
{
    int row = row_of(a);
    if (row >= 0) {
        LLVMValueRef args[] = {a->addr, what_of(pass, a, true), place};
        dh_pass_position_before(pass, a->at);
        keep_for_sanitizer(pass, a);
        LLVMValueRef bits = dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_LOAD1 + row, args);
        gone(a, dh_value_from_bits(pass->b, bits, a->type));
        return;
    }
    LLVMValueRef slot = slot_for(s, pass, a);
    dh_pass_position_before(pass, a->at);
    keep_for_sanitizer(pass, a);
    LLVMValueRef args[] = {a->addr, slot, dh_pass_u64(pass, a->bytes), what_of(pass, a, false), place};
    dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_LOAD_ANY, args);
    gone(a, LLVMBuildLoad2(pass->b, a->type, slot, ""));
}

static void place_store(struct dh_stale_hooks *s, struct dh_pass *pass, const struct dh_memop *a, LLVMValueRef place)
{
    int row = row_of(a);
    LLVMValueRef value = LLVMGetOperand(a->at, 0);
    if (row >= 0) {
        dh_pass_position_before(pass, a->at);
        keep_for_sanitizer(pass, a);
        LLVMTypeRef bits = LLVMIntTypeInContext(pass->c, (unsigned)a->bytes * 8);
        LLVMValueRef args[] = {a->addr, dh_value_to_bits(pass->b, value, bits), what_of(pass, a, true), place};
        dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_STORE1 + row, args);
        gone(a, NULL);
        return;
    }
    LLVMValueRef slot = slot_for(s, pass, a);
    dh_pass_position_before(pass, a->at);
    keep_for_sanitizer(pass, a);
    LLVMBuildStore(pass->b, value, slot);
    LLVMValueRef args[] = {a->addr, slot, dh_pass_u64(pass, a->bytes), what_of(pass, a, false), place};
    dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_STORE_ANY, args);
    gone(a, NULL);
}

static void place_range(struct dh_stale_hooks *s, struct dh_pass *pass, const struct dh_memop *a, LLVMValueRef place)
{
    LLVMValueRef what = what_of(pass, a, false);
    keep_range_for_sanitizer(s, pass, a);
    dh_pass_position_before(pass, a->at);
    LLVMValueRef size = dh_pass_size_u64(pass, a->size);
    if (a->src) {
        LLVMValueRef args[] = {a->addr, a->src, size, what, place};
        dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_COPY_ANY, args);
    } else {
        LLVMValueRef byte = LLVMBuildZExt(pass->b, LLVMGetOperand(a->at, 1), pass->i32, "");
        LLVMValueRef args[] = {a->addr, byte, size, what, place};
        dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_FILL_ANY, args);
    }
    gone(a, NULL);
}

/* ---- locals ---- */

static LLVMValueRef object_of(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    return LLVMIsAAllocaInst(pointer);
}

static void note_local(struct dh_stale_hooks *s, LLVMValueRef pointer)
{
    LLVMValueRef local = pointer ? object_of(pointer) : NULL;
    for (size_t i = 0; local && i < s->locals.n; i++)
        if (s->locals.at[i] == local)
            local = NULL;
    if (local && LLVMIsAConstantInt(LLVMGetOperand(local, 0)))
        dh_vec_push(&s->locals, local);
}

static void place_local(struct dh_pass *pass, LLVMValueRef local)
{
    uint64_t each = LLVMABISizeOfType(pass->layout, LLVMGetAllocatedType(local)),
             n = LLVMConstIntGetZExtValue(LLVMGetOperand(local, 0));
    LLVMValueRef args[] = {local, dh_pass_u64(pass, each * n)};
    dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_LOCAL, args);
}

static bool is_lifetime(LLVMValueRef user)
{
    size_t n;
    if (!LLVMIsACallInst(user) || !dh_is_intrinsic_call(user))
        return false;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(user), &n);
    return !strncmp(name, "llvm.lifetime.start", 19) || !strncmp(name, "llvm.lifetime.end", 17);
}

/* At both ends of its lifetime: a signal handler, or an unobserved thread, may write there in between. */
static bool place_at_ends(struct dh_pass *pass, LLVMValueRef local)
{
    dh_value_vec ends = {0};
    for (LLVMUseRef u = LLVMGetFirstUse(local); u; u = LLVMGetNextUse(u))
        if (is_lifetime(LLVMGetUser(u)))
            dh_vec_push(&ends, LLVMGetUser(u));
    for (size_t i = 0; i < ends.n; i++) {
        size_t n;
        bool begins = !strncmp(LLVMGetValueName2(LLVMGetCalledValue(ends.at[i]), &n), "llvm.lifetime.start", 19);
        if (begins)
            dh_pass_position_after(pass, ends.at[i]);
        else
            dh_pass_position_before(pass, ends.at[i]);
        place_local(pass, local);
    }
    bool any = ends.n;
    dh_vec_release(&ends);
    return any;
}

/* After all allocas of the block: an alloca after an inlined call would be dynamic. */
static LLVMValueRef last_of_frame(LLVMValueRef local)
{
    LLVMValueRef last = local;
    for (LLVMValueRef i = local; i; i = LLVMGetNextInstruction(i))
        if (LLVMIsAAllocaInst(i))
            last = i;
    return last;
}

void dh_stale_hooks_end_function(struct dh_stale_hooks *s, struct dh_pass *pass)
{
    for (size_t i = 0; i < s->locals.n; i++)
        if (!place_at_ends(pass, s->locals.at[i])) {
            dh_pass_position_after(pass, last_of_frame(s->locals.at[i]));
            place_local(pass, s->locals.at[i]);
        }
}

/* ---- all ---- */

static uint32_t flags_of(const struct dh_pass *pass, const struct dh_memop *a, uint32_t site)
{
    struct dh_site_table t = dh_site_builder_view(pass->places->sites);
    bool is_element = site < t.n_sites && t.sites[site].flags & DH_SITE_ELEMENT;
    bool tears = a->kind == DH_MEMOP_PLAIN && a->bytes == 8 && LLVMGetTypeKind(a->type) != LLVMPointerTypeKind;
    bool is_volatile = a->kind == DH_MEMOP_PLAIN && LLVMGetVolatile(a->at);
    return (is_element ? DH_STALE_ELEMENT : 0) | (tears ? DH_STALE_MAY_TEAR : 0) |
           (is_volatile ? DH_STALE_VOLATILE : 0) | (a->kind == DH_MEMOP_ATOMIC && a->bytes <= 8 ? DH_STALE_CHOSEN : 0);
}

void dh_stale_hooks_place(struct dh_stale_hooks *s, struct dh_pass *pass, const struct dh_memop *a, uint32_t site)
{
    LLVMValueRef place = dh_pass_u32(pass, site);
    struct dh_memop as = *a;
    bool chosen = dh_plan_mark(pass->plan, site);
    as.more = chosen ? flags_of(pass, a, site) : 0;
    if (chosen) {
        note_local(s, a->addr);
        note_local(s, a->src);
    }
    if (a->kind == DH_MEMOP_ATOMIC) {
        dh_pass_position_before(pass, a->at);
        dh_atomics_place(pass, &as, place);
    } else if (a->kind == DH_MEMOP_MEMORY)
        place_range(s, pass, &as, place);
    else if (a->op == DH_OP_READ)
        place_load(s, pass, &as, place);
    else
        place_store(s, pass, &as, place);
}
