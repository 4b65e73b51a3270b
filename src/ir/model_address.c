/* Address arithmetic: constant offsets are summed up, variable indexes keep their stride and operand. */
#include "ir/model_internal.h"

#include <string.h>

struct step {
    dh_value address;
    int64_t bytes; /* pending, not yet emitted */
};

static void add_index(struct dh_model_reader *r, struct step *s, LLVMValueRef index, uint64_t stride, uint64_t count)
{
    if (LLVMIsAConstantInt(index)) {
        s->bytes += LLVMConstIntGetSExtValue(index) * (int64_t)stride;
        return;
    }
    if (!r->distant_members && dh_read_is_member_pointer(index, 1))
        return;
    dh_value by = dh_read_value(r, index);
    uint32_t result = dh_emit_register(r);
    struct dh_inst *i = dh_emit2(r, DH_I_INDEX, result, s->address, by);
    i->offset = s->bytes;
    i->size = stride > UINT32_MAX ? 0 : (uint32_t)stride;
    i->extra = count > UINT32_MAX ? 0 : (uint32_t)count;
    i->flags |= count ? DH_INST_BOUNDED : 0;
    i->site = DH_NO_SITE;
    s->address = result;
    s->bytes = 0;
}

/* Trees, lists and tables of libstdc++ have a header node inside of the container that is linked with those on the
 * heap: unification would merge container and nodes. The header is modelled as a heap node that the container points
 * to; no path leads from it back to the container. */
static bool is_header(LLVMTypeRef type, unsigned field)
{
    const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
    if (!name || strncmp(name, "struct.std::", 12) != 0)
        return name && strncmp(name, "class.std::_Hashtable", 21) == 0 &&
               LLVMGetTypeKind(LLVMStructGetTypeAtIndex(type, field)) == LLVMStructTypeKind &&
               LLVMGetStructName(LLVMStructGetTypeAtIndex(type, field)) &&
               strstr(LLVMGetStructName(LLVMStructGetTypeAtIndex(type, field)), "_Hash_node_base");
    return field == 0 && (strncmp(name, "struct.std::_Rb_tree_header", 27) == 0 || strstr(name, "::_List_impl") ||
                          strstr(name, "::_Fwd_list_impl"));
}

static void enter_header(struct dh_model_reader *r, struct step *s)
{
    dh_value at = dh_emit_offset(r, s->address, s->bytes);
    s->address = dh_emit_load(r, at);
    s->bytes = 0;
}

static LLVMTypeRef inner_step(struct dh_model_reader *r, struct step *s, LLVMTypeRef type, LLVMValueRef index)
{
    if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
        unsigned at = (unsigned)LLVMConstIntGetZExtValue(index);
        s->bytes += (int64_t)LLVMOffsetOfElement(r->layout, type, at);
        if (!r->strict && is_header(type, at))
            enter_header(r, s);
        return LLVMStructGetTypeAtIndex(type, at);
    }
    LLVMTypeRef element = LLVMGetElementType(type);
    uint64_t count = LLVMGetTypeKind(type) == LLVMArrayTypeKind ? LLVMGetArrayLength2(type) : LLVMGetVectorSize(type);
    /* An array of no or one element at a struct's end is as long as was allocated. */
    add_index(r, s, index, LLVMABISizeOfType(r->layout, element), count > 1 ? count : 0);
    return element;
}

dh_value dh_read_gep(struct dh_model_reader *r, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    if (LLVMGetTypeKind(LLVMTypeOf(gep)) == LLVMVectorTypeKind) {
        uint32_t result = dh_emit_register(r);
        dh_emit1(r, DH_I_MIX, result, dh_read_value(r, LLVMGetOperand(gep, 0)));
        return result;
    }
    struct step s = {.address = dh_read_value(r, LLVMGetOperand(gep, 0))};
    uint32_t site = r->site;
    r->site = DH_NO_SITE;
    add_index(r, &s, LLVMGetOperand(gep, 1), LLVMABISizeOfType(r->layout, type), 0);
    for (unsigned i = 2; i <= LLVMGetNumIndices(gep); i++)
        type = inner_step(r, &s, type, LLVMGetOperand(gep, i));
    dh_value address = dh_emit_offset(r, s.address, s.bytes);
    r->site = site;
    return address;
}

static uint64_t extent_of_gep(struct dh_model_reader *r, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    uint64_t left = 0;
    unsigned n = LLVMGetNumIndices(gep);
    if (n < 2)
        return 0;
    for (unsigned i = 2; i <= n; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        uint64_t at = LLVMIsAConstantInt(index) ? LLVMConstIntGetZExtValue(index) : 0;
        if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            type = LLVMStructGetTypeAtIndex(type, (unsigned)at);
            left = LLVMABISizeOfType(r->layout, type);
        } else {
            uint64_t whole = LLVMABISizeOfType(r->layout, type);
            type = LLVMGetElementType(type);
            uint64_t skipped = at * LLVMABISizeOfType(r->layout, type);
            left = whole > skipped ? whole - skipped : 0;
        }
    }
    return left;
}

uint64_t dh_read_extent(struct dh_model_reader *r, LLVMValueRef address)
{
    if (LLVMIsAGlobalVariable(address))
        return LLVMABISizeOfType(r->layout, LLVMGlobalGetValueType(address));
    if (LLVMIsAAllocaInst(address) && LLVMIsAConstantInt(LLVMGetOperand(address, 0)))
        return LLVMABISizeOfType(r->layout, LLVMGetAllocatedType(address)) *
               LLVMConstIntGetZExtValue(LLVMGetOperand(address, 0));
    if (LLVMIsAGetElementPtrInst(address) ||
        (LLVMGetValueKind(address) == LLVMConstantExprValueKind && LLVMGetConstOpcode(address) == LLVMGetElementPtr))
        return LLVMGetTypeKind(LLVMTypeOf(address)) == LLVMPointerTypeKind ? extent_of_gep(r, address) : 0;
    return 0;
}
