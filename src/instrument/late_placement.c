/* Late placement: race, lockset and consistency hooks, after simplification and before vectorisation. Needs:
 * sanitize_thread since before simplification (dh_instrument_prepare), so that each access left is one the source has.
 * Provides: one hook before each access that may be shared, and the shadow stack. */
#include "instrument/address_bases.h"
#include "instrument/alignment.h"
#include "instrument/atomic_hooks.h"
#include "instrument/attributes.h"
#include "instrument/escape.h"
#include "instrument/inline_asm.h"
#include "instrument/instrument.h"
#include "instrument/pass.h"
#include "instrument/place_operand.h"
#include "instrument/places.h"
#include "instrument/post_inline.h"
#include "instrument/private_args.h"
#include "instrument/redundant_checks.h"
#include "instrument/redundant_consistency.h"
#include "instrument/shadow_stack.h"
#include "instrument/site_resolver.h"
#include "instrument/speculated_loads.h"
#include "instrument/strided_loops.h"
#include "instrument/vtable_stores.h"
#include "ir/site_scopes.h"
#include "ir/sites.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

struct late {
    struct dh_pass pass;
    struct dh_escape escape;
    struct dh_site_resolver resolver;
    struct dh_address_bases bases;
    struct dh_strided_loops strided;
    unsigned nosanitize;
    bool unchecked;   /* excluded from checks by attribute: frames and atomics only */
    unsigned classes; /* of the current access */
    dh_value_vec work, all;
    DH_VEC(bool) is_consistency_redundant; /* of `all`: redundant consistency checks */
};

/* An access without a known site gets the classes that any site has. */
static bool wanted(struct late *l, const struct dh_memop *a, uint32_t *site)
{
    *site = dh_ir_site_of(a->at);
    if (*site != DH_NO_SITE) {
        l->classes = dh_site_resolver_certain_classes(&l->resolver, a) & DH_CLASSES_LATE;
        return l->classes;
    }
    struct dh_resolved_site r = dh_site_resolver_find(&l->resolver, a);
    *site = r.site;
    l->classes =
        (l->pass.plan->proven ? dh_site_resolver_certain_classes(&l->resolver, a) : r.classes) & DH_CLASSES_LATE;
    return l->classes != 0;
}

static bool reads_only(enum dh_op op)
{
    return op == DH_OP_READ || op == DH_OP_ATOMIC_LOAD;
}

static bool is_shared(struct late *l, LLVMValueRef addr, bool read)
{
    return !dh_escape_is_private(&l->escape, addr) && !(read && dh_escape_is_constant(&l->escape, addr));
}

/* May another thread access it? For memory intrinsics one shared end is enough; each is tested again when placed. */
static bool matters(struct late *l, const struct dh_memop *a)
{
    if (!a->addr)
        return true;
    if (!dh_memop_is_ordinary(a) || LLVMGetMetadata(a->at, l->nosanitize))
        return false;
    if (a->kind == DH_MEMOP_MEMORY && a->size && LLVMIsAConstantInt(a->size) && !a->bytes)
        return false;
    return is_shared(l, a->addr, reads_only(a->op)) || (a->src && is_shared(l, a->src, true));
}

static bool is_read(const struct dh_memop *a)
{
    return a->op == DH_OP_READ;
}

static bool has_sized_hook(const struct dh_memop *a, int *row)
{
    static const uint64_t sizes[] = {1, 2, 4, 8, 16};
    for (*row = 0; *row < 5; ++*row)
        if (sizes[*row] == a->bytes)
            return LLVMGetAlignment(a->at) >= (a->bytes < 4 ? a->bytes : 4);
    return false;
}

/* The value to be written, as 64 bits. */
static LLVMValueRef value_bits(struct late *l, const struct dh_memop *a)
{
    LLVMValueRef value = LLVMGetOperand(a->at, 0);
    LLVMTypeRef bits = LLVMIntTypeInContext(l->pass.c, (unsigned)a->bytes * 8);
    switch (LLVMGetTypeKind(a->type)) {
    case LLVMIntegerTypeKind:
        if (LLVMGetIntTypeWidth(a->type) == a->bytes * 8)
            break;
        value = LLVMBuildZExt(l->pass.b, value, bits, "");
        break;
    case LLVMPointerTypeKind:
        value = LLVMBuildPtrToInt(l->pass.b, value, bits, "");
        break;
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMHalfTypeKind:
        value = LLVMBuildBitCast(l->pass.b, value, bits, "");
        break;
    default: /* vectors and rare types: the report omits the value */
        return dh_pass_u64(&l->pass, 0);
    }
    return a->bytes < 8 ? LLVMBuildZExt(l->pass.b, value, l->pass.i64, "") : value;
}

static void place_range(struct late *l, LLVMValueRef addr, LLVMValueRef size, bool read, LLVMValueRef place)
{
    static const enum dh_hook hooks[2][2] = {{DH_HOOK_WRITE_RANGE, DH_HOOK_READ_RANGE},
                                             {DH_HOOK_WRITE_UNALIGNED, DH_HOOK_READ_UNALIGNED}};
    LLVMValueRef args[] = {addr, size, place};
    uint64_t bytes = LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;
    bool plain = bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
    dh_hooks_call(&l->pass.hooks, l->pass.b, hooks[plain][read], args);
}

/* A wide access of whole granules as a few sized ones. */
static bool place_pieces(struct late *l, LLVMValueRef from, uint64_t bytes, unsigned alignment, bool read,
                         LLVMValueRef place)
{
    enum { MOST = 64 };
    if (bytes > MOST || bytes % 4 || alignment < 4)
        return false;
    for (uint64_t at = 0; at < bytes;) {
        int row = bytes - at >= 16 ? 4 : bytes - at >= 8 ? 3 : 2;
        LLVMValueRef offset = dh_pass_u64(&l->pass, at);
        LLVMValueRef addr = LLVMBuildGEP2(l->pass.b, LLVMInt8TypeInContext(l->pass.c), from, &offset, 1, "");
        LLVMValueRef args[3] = {addr, read || row == 4 ? place : dh_pass_u64(&l->pass, 0), place};
        dh_hooks_call(&l->pass.hooks, l->pass.b, (read ? DH_HOOK_READ1 : DH_HOOK_WRITE1) + row, args);
        at += (uint64_t)1 << row;
    }
    return true;
}

static enum dh_hook read_hook(struct late *l, const struct dh_memop *a, int row)
{
    bool whole = (a->bytes == 4 || a->bytes == 8) && LLVMGetAlignment(a->at) >= a->bytes;
    if (whole && dh_address_bases_is_read_only(&l->bases, a->at, a->addr))
        return a->bytes == 4 ? DH_HOOK_READ4_SHARED : DH_HOOK_READ8_SHARED;
    return DH_HOOK_READ1 + row;
}

/* For the recorder, which takes any size. */
static void place_note(struct late *l, LLVMValueRef addr, LLVMValueRef size, unsigned alignment, bool read,
                       LLVMValueRef place)
{
    uint64_t bytes = LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;
    bool whole = (bytes == 4 || bytes == 8) && alignment >= bytes;
    if (whole) {
        LLVMValueRef args[] = {addr, place};
        enum dh_hook first = read ? DH_HOOK_NOTE_READ4 : DH_HOOK_NOTE_WRITE4;
        dh_hooks_call(&l->pass.hooks, l->pass.b, first + (bytes == 8), args);
    } else {
        LLVMValueRef args[] = {addr, size, place};
        dh_hooks_call(&l->pass.hooks, l->pass.b, read ? DH_HOOK_NOTE_READ : DH_HOOK_NOTE_WRITE, args);
    }
}

static void check_plain(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    int row;
    if (!has_sized_hook(a, &row)) {
        if (place_pieces(l, a->addr, a->bytes, LLVMGetAlignment(a->at), is_read(a), place))
            return;
        place_range(l, a->addr, dh_pass_u64(&l->pass, a->bytes), is_read(a), place);
        return;
    }
    LLVMValueRef args[3] = {a->addr, place};
    if (is_read(a)) {
        dh_hooks_call(&l->pass.hooks, l->pass.b, read_hook(l, a, row), args);
        return;
    }
    if (a->bytes <= 8) {
        args[1] = value_bits(l, a);
        args[2] = place;
    }
    dh_hooks_call(&l->pass.hooks, l->pass.b, DH_HOOK_WRITE1 + row, args);
}

/* Use-after-free check only. */
static bool check_alive(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    int row;
    if (l->classes & DH_CLASS_RACE || !has_sized_hook(a, &row))
        return false;
    LLVMValueRef args[] = {a->addr, dh_pass_u64(&l->pass, a->bytes), place};
    dh_hooks_call(&l->pass.hooks, l->pass.b, is_read(a) ? DH_HOOK_ALIVE_READ : DH_HOOK_ALIVE_WRITE, args);
    return true;
}

/* One range hook for all iterations of a loop, when only races are checked. */
static bool place_run(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    struct dh_strided_access run;
    bool only = !(l->classes & ~(unsigned)(DH_CLASS_RACE | DH_CLASS_ALIVE));
    if (!only || dh_is_vtable_store(a) || !LLVMIsAConstantInt(place) || !dh_strided_loops_find(&l->strided, a, &run))
        return false;
    LLVMValueRef shape = dh_pass_u64(&l->pass, (uint64_t)run.stride << 8 | a->bytes);
    LLVMValueRef args[] = {run.first, run.rounds, shape, place};
    enum dh_hook hook = is_read(a) ? DH_HOOK_READ_RUN : DH_HOOK_WRITE_RUN;
    dh_strided_loops_note_hook(&run, a, dh_hooks_call(&l->pass.hooks, l->pass.b, hook, args));
    return true;
}

static void place_plain(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    if (place_run(l, a, place))
        return;
    if (l->classes & (DH_CLASS_RACE | DH_CLASS_ALIVE) && !check_alive(l, a, place))
        check_plain(l, a, place);
    if (l->classes & DH_CLASS_LOCKSET)
        place_note(l, a->addr, dh_pass_u64(&l->pass, a->bytes), LLVMGetAlignment(a->at), is_read(a), place);
}

static void place_atomic(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    dh_atomics_place(&l->pass, a, place);
}

static void place_fence(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    LLVMValueRef args[] = {dh_pass_u32(&l->pass, dh_memop_what(a)), place};
    dh_hooks_call(&l->pass.hooks, l->pass.b, DH_HOOK_FENCE, args);
}

/* Of an end of a memory intrinsic; `argument` is its number, from 1. */
static unsigned alignment_of(const struct dh_memop *a, unsigned argument)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAttributeRef aligned = LLVMGetCallSiteEnumAttribute(a->at, argument, kind);
    return aligned ? (unsigned)LLVMGetEnumAttributeValue(aligned) : 1;
}

static void place_end(struct late *l, const struct dh_memop *a, LLVMValueRef at, unsigned argument, bool read,
                      LLVMValueRef size, LLVMValueRef place)
{
    unsigned alignment = alignment_of(a, argument);
    if (l->classes & DH_CLASS_LOCKSET)
        place_note(l, at, size, alignment, read, place);
    if (!(l->classes & (DH_CLASS_RACE | DH_CLASS_ALIVE)))
        return;
    if (!a->bytes || !place_pieces(l, at, a->bytes, alignment, read, place))
        place_range(l, at, size, read, place);
}

static void place_memory(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    LLVMValueRef size = dh_pass_size_u64(&l->pass, a->size);
    if (a->src && is_shared(l, a->src, true))
        place_end(l, a, a->src, 2, true, size, place);
    if (is_shared(l, a->addr, false))
        place_end(l, a, a->addr, 1, false, size, place);
}

/* Of inline assembly only fences are understood; what may do anything calls a hook, so that reports can disclose it. */
static void place_assembly(struct late *l, LLVMValueRef i, LLVMValueRef place)
{
    static const uint32_t full = DH_OP_FENCE | DH_ORDER_SEQ_CST << 8;
    LLVMValueRef args[] = {dh_pass_u32(&l->pass, full), place};
    enum dh_inline_asm_effect effect = dh_inline_asm_effect(i);
    if (effect == DH_INLINE_ASM_FENCE)
        dh_hooks_call(&l->pass.hooks, l->pass.b, DH_HOOK_FENCE, args);
    else if (effect == DH_INLINE_ASM_UNKNOWN)
        dh_hooks_call(&l->pass.hooks, l->pass.b, DH_HOOK_ASSEMBLY, &place);
}

static void place_call(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(a->at))) {
        place_assembly(l, a->at, place);
        return;
    }
    dh_hooks_call(&l->pass.hooks, l->pass.b, DH_HOOK_CALL, &place);
}

/* ---- consistency scopes: every access counts, since another thread may write between a read and the write after it
 * ---- */

static void place_unit(struct late *l, LLVMValueRef from, uint64_t bytes, LLVMValueRef size, unsigned alignment,
                       bool read, LLVMValueRef place)
{
    enum { WORD = 8, MOST = 64 };
    bool whole = bytes && bytes % WORD == 0 && bytes <= MOST && alignment >= WORD;
    bool part = (bytes == 1 || bytes == 2 || bytes == 4) && alignment >= bytes;
    LLVMValueRef args[] = {from, whole ? dh_pass_u64(&l->pass, WORD) : size, place};
    if (dh_escape_is_copy(&l->escape, from) || !is_shared(l, from, read))
        return;
    if (!whole) {
        enum dh_hook hook = part ? DH_HOOK_SCOPE_READ : DH_HOOK_SCOPE_READ_RANGE;
        dh_hooks_call(&l->pass.hooks, l->pass.b, hook + !read, args);
        return;
    }
    for (uint64_t at = 0; at < bytes; at += WORD) {
        LLVMValueRef offset = dh_pass_u64(&l->pass, at);
        args[0] = at ? LLVMBuildGEP2(l->pass.b, LLVMInt8TypeInContext(l->pass.c), from, &offset, 1, "") : from;
        dh_hooks_call(&l->pass.hooks, l->pass.b, read ? DH_HOOK_SCOPE_READ : DH_HOOK_SCOPE_WRITE, args);
    }
}

static void place_units(struct late *l, const struct dh_memop *a, LLVMValueRef place)
{
    if (a->kind == DH_MEMOP_PLAIN)
        place_unit(l, a->addr, a->bytes, dh_pass_u64(&l->pass, a->bytes), LLVMGetAlignment(a->at), is_read(a), place);
    if (a->kind != DH_MEMOP_MEMORY)
        return;
    LLVMValueRef size = dh_pass_size_u64(&l->pass, a->size);
    if (a->src)
        place_unit(l, a->src, a->bytes, size, alignment_of(a, 2), true, place);
    place_unit(l, a->addr, a->bytes, size, alignment_of(a, 1), false, place);
}

/* `is_redundant`: the check is covered by another access of the region, except for consistency;
 * `is_consistency_redundant`: that one is covered, too. */
static void place(struct late *l, LLVMValueRef i, bool is_redundant, bool is_consistency_redundant)
{
    static void (*const placers[])(struct late *, const struct dh_memop *, LLVMValueRef) = {
        [DH_MEMOP_PLAIN] = place_plain,   [DH_MEMOP_ATOMIC] = place_atomic, [DH_MEMOP_FENCE] = place_fence,
        [DH_MEMOP_MEMORY] = place_memory, [DH_MEMOP_CALL] = place_call,
    };
    struct dh_memop a;
    uint32_t site;
    if (!dh_memop_of(&l->pass, i, &a) || (l->unchecked && (a.kind == DH_MEMOP_PLAIN || a.kind == DH_MEMOP_MEMORY)) ||
        !dh_speculated_load_restore(&l->pass, &a) || !matters(l, &a) || !wanted(l, &a, &site)) {
        dh_ir_drop_site_scopes(i);
        return;
    }
    dh_pass_position_before(&l->pass, i);
    LLVMValueRef id = dh_place_operand_emit(&l->resolver, &l->pass, &a, site);
    dh_ir_drop_site_scopes(i); /* now, because placing may replace the instruction */
    if (dh_is_vtable_store(&a))
        a.addr = dh_vtable_store_address(&l->pass, &a);
    if (l->classes & DH_CLASS_CONSISTENCY && !is_consistency_redundant)
        place_units(l, &a, id);
    bool plain = a.kind == DH_MEMOP_PLAIN || a.kind == DH_MEMOP_MEMORY;
    if (!plain || (!is_redundant && l->classes != DH_CLASS_CONSISTENCY))
        placers[a.kind](l, &a, id);
}

/* Volatile accesses keep their own hooks: spin loops wait by them. Stores of vtable pointers may be no accesses. */
static unsigned classes_hooked(void *arg, const struct dh_memop *a)
{
    struct late *l = arg;
    unsigned checks =
        DH_CLASS_RACE | DH_CLASS_LOCKSET | DH_CLASS_ALIVE; /* consistency hooks are eliminated separately */
    if (LLVMGetVolatile(a->at) || dh_is_vtable_store(a) || !matters(l, a))
        return 0;
    unsigned classes = dh_site_resolver_certain_classes(&l->resolver, a) & checks;
    return classes & DH_CLASS_RACE ? classes | DH_CLASS_ALIVE : classes;
}

static void place_all(struct late *l, LLVMValueRef f)
{
    dh_pass_enter_function(&l->pass, f);
    dh_escape_next_function(&l->escape);
    dh_address_bases_enter_function(&l->bases, f);
    dh_strided_loops_enter_function(&l->strided, &l->pass, f);
    l->work.n = 0;
    l->unchecked = dh_function_is_unchecked(f);
    dh_pass_collect_memops(f, &l->work);
    dh_alignment_infer(&l->pass, &l->work);
    l->all.n = 0;
    l->is_consistency_redundant.n = 0;
    for (size_t i = 0; i < l->work.n; i++) {
        dh_vec_push(&l->all, l->work.at[i]);
        dh_vec_push(&l->is_consistency_redundant, false);
    }
    if (l->pass.plan->everywhere & DH_CLASS_CONSISTENCY)
        dh_redundant_consistency_find(&l->pass, &l->all, l->is_consistency_redundant.at);
    dh_redundant_checks_remove(&l->pass, &l->work, classes_hooked, l);
    for (size_t i = 0; i < l->work.n; i++)
        if (l->work.at[i] || l->pass.plan->everywhere & DH_CLASS_CONSISTENCY)
            place(l, l->all.at[i], !l->work.at[i], l->is_consistency_redundant.at[i]);
    if (!l->unchecked)
        dh_private_args_place(&l->pass, &l->escape, f, &l->work);
}

bool dh_instrument_late(LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places, struct dh_err *err)
{
    struct late l = {.nosanitize = LLVMGetMDKindIDInContext(LLVMGetModuleContext(m), "nosanitize", 10)};
    if (!dh_pass_init(&l.pass, m, plan, places, err))
        return false;
    dh_places_enter_module(places, m);
    if (dh_frames_present(m)) {
        dh_post_inline_strip_frames(&l.pass);
        dh_post_inline_places(&l.pass);
    }
    dh_escape_init(&l.escape, l.pass.c);
    dh_site_resolver_init(&l.resolver, m, places, plan);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (!dh_pass_may_instrument(&l.pass, f))
            continue;
        place_all(&l, f);
        dh_frames_place(&l.pass, f);
    }
    dh_attributes_relax(m);
    dh_places_leave_module(places);
    dh_site_resolver_release(&l.resolver);
    dh_escape_release(&l.escape);
    dh_address_bases_release(&l.bases);
    dh_strided_loops_release(&l.strided);
    dh_vec_release(&l.work);
    dh_vec_release(&l.all);
    dh_vec_release(&l.is_consistency_redundant);
    dh_pass_release(&l.pass);
    return true;
}
