#include "instrument/debug_locations.h"

#include <llvm-c/DebugInfo.h>

/* What a location must be; everything with a line when `scopes` is NULL. */
struct demand {
    struct dh_debug_scopes *scopes;
    struct dh_debug_scope_names names;
};

/* The location of an instruction if it still has a line, else NULL. */
static LLVMMetadataRef own_location(LLVMValueRef i)
{
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(i);
    return loc && LLVMDILocationGetLine(loc) ? loc : NULL;
}

static LLVMMetadataRef fitting(LLVMValueRef i, const struct demand *d)
{
    LLVMMetadataRef loc = own_location(i);
    if (!loc || !d->scopes)
        return loc;
    struct dh_debug_scope_names names = dh_debug_scopes_get(d->scopes, LLVMDILocationGetScope(loc));
    return names.file == d->names.file && names.function == d->names.function ? loc : NULL;
}

/* Debug intrinsics have the location of the variable's declaration, not of the code. */
static LLVMMetadataRef fitting_code(LLVMValueRef i, const struct demand *d)
{
    return LLVMIsADbgInfoIntrinsic(i) ? NULL : fitting(i, d);
}

static LLVMMetadataRef among_users(LLVMValueRef i, const struct demand *d)
{
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
        LLVMMetadataRef loc = LLVMIsAInstruction(LLVMGetUser(u)) ? fitting_code(LLVMGetUser(u), d) : NULL;
        if (loc)
            return loc;
    }
    return NULL;
}

/* Hoisted code stands before its neighbours and sunk code after them: both ways at the same pace. */
static LLVMMetadataRef in_block(LLVMValueRef i, const struct demand *d)
{
    LLVMValueRef before = LLVMGetPreviousInstruction(i), after = LLVMGetNextInstruction(i);
    while (before || after) {
        LLVMMetadataRef loc = after ? fitting_code(after, d) : NULL;
        if (!loc && before)
            loc = fitting_code(before, d);
        if (loc)
            return loc;
        before = before ? LLVMGetPreviousInstruction(before) : NULL;
        after = after ? LLVMGetNextInstruction(after) : NULL;
    }
    return NULL;
}

static LLVMMetadataRef in_successors(LLVMValueRef i, const struct demand *d)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(i));
    for (unsigned k = 0; end && k < LLVMGetNumSuccessors(end); k++)
        for (LLVMValueRef s = LLVMGetFirstInstruction(LLVMGetSuccessor(end, k)); s; s = LLVMGetNextInstruction(s)) {
            LLVMMetadataRef loc = fitting_code(s, d);
            if (loc)
                return loc;
        }
    return NULL;
}

static LLVMMetadataRef in_function(LLVMValueRef i, const struct demand *d)
{
    LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(i));
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef k = LLVMGetFirstInstruction(bb); k; k = LLVMGetNextInstruction(k)) {
            LLVMMetadataRef loc = fitting(k, d);
            if (loc)
                return loc;
        }
    return NULL;
}

static LLVMMetadataRef nearest_location(LLVMValueRef i, const struct demand *d)
{
    static LLVMMetadataRef (*const searches[])(LLVMValueRef, const struct demand *) = {among_users, in_block,
                                                                                       in_successors, in_function};
    LLVMMetadataRef loc = fitting(i, d);
    for (size_t k = 0; !loc && k < sizeof searches / sizeof *searches; k++)
        loc = searches[k](i, d);
    return loc;
}

LLVMMetadataRef dh_debug_location_nearest(LLVMValueRef i)
{
    return nearest_location(i, &(struct demand){0});
}

LLVMMetadataRef dh_debug_location_nearest_in(struct dh_debug_scopes *s, LLVMValueRef i,
                                             struct dh_debug_scope_names wanted)
{
    return nearest_location(i, &(struct demand){s, wanted});
}
