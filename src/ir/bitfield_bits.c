#include "ir/bitfield_bits.h"

#include <stdbool.h>
#include <stddef.h>

struct range {
    unsigned from, to;
};

static unsigned width_of(LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    return LLVMGetTypeKind(t) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(t) : 0;
}

static bool constant(LLVMValueRef v, uint64_t *c)
{
    if (!LLVMIsAConstantInt(v) || width_of(v) > 64)
        return false;
    *c = LLVMConstIntGetZExtValue(v);
    return true;
}

static LLVMOpcode opcode(LLVMValueRef v)
{
    return LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : 0;
}

static bool mask_range(uint64_t mask, unsigned width, struct range *r)
{
    if (width < 64)
        mask &= (UINT64_C(1) << width) - 1;
    if (!mask)
        return false;
    *r = (struct range){(unsigned)__builtin_ctzll(mask), 64 - (unsigned)__builtin_clzll(mask)};
    return true;
}

/* Shift or mask by a constant? */
static bool by_constant(LLVMValueRef v, LLVMOpcode op, uint64_t *c)
{
    return opcode(v) == op && constant(LLVMGetOperand(v, 1), c);
}

/* Does `v`, a masked unit, go back to `pointer`, perhaps with new bits or-ed in? */
static bool stored_back(LLVMValueRef v, LLVMValueRef pointer, int depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u && depth; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (opcode(user) == LLVMStore && LLVMGetOperand(user, 1) == pointer)
            return true;
        if (opcode(user) == LLVMOr && stored_back(user, pointer, depth - 1))
            return true;
    }
    return false;
}

/* The only user when that is a shift or mask by a constant, for the second half of a pair. */
static LLVMValueRef only_user(LLVMValueRef v)
{
    LLVMUseRef u = LLVMGetFirstUse(v);
    return u && !LLVMGetNextUse(u) ? LLVMGetUser(u) : NULL;
}

static bool range_after_shift(LLVMValueRef shift, unsigned by, unsigned width, struct range *r)
{
    uint64_t c;
    LLVMValueRef next = only_user(shift);
    *r = (struct range){by, width};
    if (!next)
        return true;
    if (by_constant(next, LLVMAnd, &c) && mask_range(c, width - by, r)) {
        r->from += by;
        r->to += by;
    } else if (opcode(next) == LLVMTrunc) {
        r->to = by + width_of(next);
    }
    return true;
}

/* Bits of the loaded unit that one user demands. */
static bool range_of_user(LLVMValueRef load, LLVMValueRef user, struct range *r)
{
    uint64_t c, d;
    unsigned width = width_of(load);
    if (by_constant(user, LLVMAnd, &c)) {
        bool back = stored_back(user, LLVMGetOperand(load, 0), 3);
        return mask_range(back ? ~c : c, width, r);
    }
    if ((by_constant(user, LLVMLShr, &c) || by_constant(user, LLVMAShr, &c)) && c < width)
        return range_after_shift(user, (unsigned)c, width, r);
    if (by_constant(user, LLVMShl, &c)) {
        LLVMValueRef next = only_user(user);
        if (!next || !(by_constant(next, LLVMAShr, &d) || by_constant(next, LLVMLShr, &d)) || d < c || d >= width)
            return false;
        *r = (struct range){(unsigned)(d - c), (unsigned)(width - c)};
        return true;
    }
    if (opcode(user) == LLVMTrunc) {
        *r = (struct range){0, width_of(user)};
        return true;
    }
    return false;
}

static bool range_of_load(LLVMValueRef load, struct range *all)
{
    *all = (struct range){64, 0};
    for (LLVMUseRef u = LLVMGetFirstUse(load); u; u = LLVMGetNextUse(u)) {
        struct range r;
        if (!range_of_user(load, LLVMGetUser(u), &r))
            return false;
        all->from = r.from < all->from ? r.from : all->from;
        all->to = r.to > all->to ? r.to : all->to;
    }
    return all->from < all->to;
}

/* The bits that a masked read of the old unit did not keep. */
static bool range_of_store(LLVMValueRef store, struct range *r)
{
    LLVMValueRef value = LLVMGetOperand(store, 0), pointer = LLVMGetOperand(store, 1);
    uint64_t c;
    for (int i = 0; i < 2; i++) {
        LLVMValueRef kept = opcode(value) == LLVMOr ? LLVMGetOperand(value, (unsigned)i) : value;
        if (!by_constant(kept, LLVMAnd, &c))
            continue;
        LLVMValueRef old = LLVMGetOperand(kept, 0);
        if (opcode(old) == LLVMLoad && LLVMGetOperand(old, 0) == pointer)
            return mask_range(~c, width_of(value), r);
    }
    return false;
}

void dh_bitfield_bits_used(LLVMValueRef access, uint64_t *from, uint64_t *used)
{
    struct range r;
    bool store = opcode(access) == LLVMStore;
    LLVMValueRef unit = store ? LLVMGetOperand(access, 0) : access;
    if ((!store && opcode(access) != LLVMLoad) || !width_of(unit) || width_of(unit) > 64)
        return;
    if (store ? !range_of_store(access, &r) : !range_of_load(access, &r))
        return;
    *from = r.from;
    *used = r.to - r.from;
}
