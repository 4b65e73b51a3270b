/* Exact placement: hooks before and after every tagged instruction, and loads whose values the runtime may replace.
 * Needs: a module as numbered. Provides: order-exact events for views, consistency, AtomRace, the engine, healing and
 * stale values, and the shadow stack. */
#include "event/hooks.h"
#include "instrument/attributes.h"
#include "instrument/instrument.h"
#include "instrument/pass.h"
#include "instrument/places.h"
#include "instrument/shadow_stack.h"
#include "instrument/stale_hooks.h"
#include "instrument/vtable_stores.h"
#include "ir/sites.h"

#include <llvm-c/DebugInfo.h>

struct exact {
    struct dh_pass pass;
    uint32_t function, at; /* number of the function, and of the access in it */
    bool unchecked;        /* an attribute of the function excludes its plain accesses from checks */
    struct dh_stale_hooks stale;
    dh_value_vec work;
};

static void place_access(struct exact *e, const struct dh_memop *a, LLVMValueRef place)
{
    uint32_t what = dh_memop_what(a);
    if (a->op == DH_OP_ATOMIC_CAS)
        what |= (uint32_t)dh_ir_order(LLVMGetCmpXchgFailureOrdering(a->at)) << DH_WHAT_FAILURE_SHIFT;
    LLVMValueRef args[] = {a->addr, dh_pass_u32(&e->pass, what), place};
    dh_pass_position_before(&e->pass, a->at);
    dh_hooks_call(&e->pass.hooks, e->pass.b, DH_HOOK_BEFORE, args);
    dh_pass_position_after(&e->pass, a->at);
    dh_hooks_call(&e->pass.hooks, e->pass.b, DH_HOOK_AFTER, args);
}

static void place_fence(struct exact *e, const struct dh_memop *a, LLVMValueRef place)
{
    LLVMValueRef args[] = {dh_pass_u32(&e->pass, dh_memop_what(a)), place};
    dh_pass_position_before(&e->pass, a->at);
    dh_hooks_call(&e->pass.hooks, e->pass.b, DH_HOOK_FENCE, args);
}

static void place_memory(struct exact *e, const struct dh_memop *a, LLVMValueRef place)
{
    dh_pass_position_before(&e->pass, a->at);
    LLVMValueRef args[] = {a->addr, a->src ? a->src : LLVMConstNull(e->pass.ptr), dh_pass_size_u64(&e->pass, a->size),
                           dh_pass_u32(&e->pass, dh_memop_what(a)), place};
    dh_hooks_call(&e->pass.hooks, e->pass.b, DH_HOOK_BEFORE_RANGE, args);
    dh_pass_position_after(&e->pass, a->at);
    dh_hooks_call(&e->pass.hooks, e->pass.b, DH_HOOK_AFTER_RANGE, args);
}

/* Inline assembly calls nothing that would take the place: the next call that has none would. */
static void place_call(struct exact *e, const struct dh_memop *a, LLVMValueRef place)
{
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(a->at)))
        return;
    dh_pass_position_before(&e->pass, a->at);
    dh_hooks_call(&e->pass.hooks, e->pass.b, DH_HOOK_CALL, &place);
}

/* ---- AtomRace ---- */

static void place_atom_pair(struct exact *e, const struct dh_memop *a, LLVMValueRef what, LLVMValueRef spot,
                            LLVMValueRef place)
{
    LLVMValueRef args[] = {a->addr, what, spot, place};
    dh_pass_position_before(&e->pass, a->at);
    LLVMValueRef token = dh_hooks_call(&e->pass.hooks, e->pass.b, DH_HOOK_ATOM_BEFORE, args);
    if (a->kind == DH_MEMOP_ATOMIC)
        return;
    LLVMValueRef after[] = {a->addr, what, token, spot, place};
    dh_pass_position_after(&e->pass, a->at);
    dh_hooks_call(&e->pass.hooks, e->pass.b, DH_HOOK_ATOM_AFTER, after);
}

static void place_atom_range(struct exact *e, const struct dh_memop *a, LLVMValueRef what, LLVMValueRef spot,
                             LLVMValueRef place)
{
    dh_pass_position_before(&e->pass, a->at);
    LLVMValueRef args[] = {
        a->addr, a->src ? a->src : LLVMConstNull(e->pass.ptr), dh_pass_size_u64(&e->pass, a->size), what, spot, place};
    dh_hooks_call(&e->pass.hooks, e->pass.b, DH_HOOK_ATOM_BEFORE_RANGE, args);
    dh_pass_position_after(&e->pass, a->at);
    dh_hooks_call(&e->pass.hooks, e->pass.b, DH_HOOK_ATOM_AFTER_RANGE, args);
}

/* Constant data cannot race (001 §3.1: final variables). */
static bool is_constant(LLVMValueRef addr)
{
    while (LLVMIsAGetElementPtrInst(addr) || LLVMIsAConstantExpr(addr)) {
        if (LLVMIsAConstantExpr(addr) && LLVMGetConstOpcode(addr) != LLVMGetElementPtr)
            return false;
        addr = LLVMGetOperand(addr, 0);
    }
    return LLVMIsAGlobalVariable(addr) && LLVMIsGlobalConstant(addr);
}

static void place_atom(struct exact *e, const struct dh_memop *a, uint32_t site, LLVMValueRef place)
{
    uint32_t mark = dh_plan_mark(e->pass.plan, site);
    if (a->kind == DH_MEMOP_ATOMIC)
        mark = 0;
    else if (e->unchecked || !mark || is_constant(a->addr))
        return;
    uint32_t most = (1u << DH_SPOT_BITS) - 1;
    LLVMValueRef spot = dh_pass_u32(&e->pass, e->function << DH_SPOT_BITS | (e->at < most ? e->at++ : most));
    LLVMValueRef what = dh_pass_u64(&e->pass, (uint64_t)mark << 32 | dh_memop_what(a));
    if (a->kind == DH_MEMOP_MEMORY)
        place_atom_range(e, a, what, spot, place);
    else
        place_atom_pair(e, a, what, spot, place);
}

/* The access as its hooks are to see it. */
static struct dh_memop hooked_as(struct exact *e, const struct dh_memop *a)
{
    struct dh_memop hooked = *a;
    if (dh_is_vtable_store(a)) {
        dh_pass_position_before(&e->pass, a->at);
        hooked.addr = dh_vtable_store_address(&e->pass, a);
    }
    return hooked;
}

static void place_hooks(struct exact *e, LLVMValueRef i)
{
    static void (*const placers[])(struct exact *, const struct dh_memop *, LLVMValueRef) = {
        [DH_MEMOP_PLAIN] = place_access,  [DH_MEMOP_ATOMIC] = place_access, [DH_MEMOP_FENCE] = place_fence,
        [DH_MEMOP_MEMORY] = place_memory, [DH_MEMOP_CALL] = place_call,
    };
    struct dh_memop a;
    uint32_t site = dh_ir_site_of(i);
    if (site == DH_NO_SITE)
        return;
    unsigned classes = dh_plan_classes(e->pass.plan, site) & DH_CLASSES_EXACT;
    if (!classes || !dh_memop_of(&e->pass, i, &a) || !dh_memop_is_ordinary(&a))
        return;
    uint32_t id = dh_places_id(e->pass.places, site, LLVMInstructionGetDebugLoc(i));
    LLVMValueRef place = dh_pass_u32(&e->pass, id);
    struct dh_memop hooked = hooked_as(e, &a);
    bool around = classes & ~(unsigned)(DH_CLASS_STALE | DH_CLASS_ATOMRACE);
    if (around || (!a.addr && classes & ~(unsigned)DH_CLASS_ATOMRACE))
        placers[a.kind](e, &hooked, place);
    if (classes & DH_CLASS_ATOMRACE && a.addr)
        place_atom(e, &hooked, site, place);
    /* Placed last, so that the call that replaces the access lies between its hooks. */
    if (classes & DH_CLASS_STALE && a.addr)
        dh_stale_hooks_place(&e->stale, &e->pass, &a, site);
}

/* Whether no report shows the call stack of a chosen access. */
static bool is_sparse(const struct dh_plan *plan)
{
    return plan->bits && (plan->everywhere == DH_CLASS_ATOMRACE || plan->everywhere == DH_CLASS_STALE);
}

bool dh_instrument_exact(LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places, struct dh_err *err)
{
    struct exact e = {0};
    if (!dh_pass_init(&e.pass, m, plan, places, err))
        return false;
    /* Without late placement, frames are placed after inlining; here they would only hinder it. */
    bool frames = !dh_frames_present(m) && !is_sparse(plan);
    dh_places_enter_module(places, m);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (!dh_pass_may_instrument(&e.pass, f))
            continue;
        dh_pass_enter_function(&e.pass, f);
        e.unchecked = dh_function_is_unchecked(f);
        e.function++;
        e.at = 0;
        dh_stale_hooks_next_function(&e.stale);
        e.work.n = 0;
        dh_pass_collect_memops(f, &e.work);
        for (size_t i = 0; i < e.work.n; i++)
            place_hooks(&e, e.work.at[i]);
        dh_stale_hooks_end_function(&e.stale, &e.pass);
        if (frames)
            dh_frames_place(&e.pass, f);
    }
    dh_attributes_relax(m);
    dh_places_leave_module(places);
    dh_stale_hooks_release(&e.stale);
    dh_vec_release(&e.work);
    dh_pass_release(&e.pass);
    return true;
}
