/* Operands and constants of the module as values of the abstract program. */
#include "base/str.h"
#include "ir/model_internal.h"

#include <string.h>

enum { DEEPEST_CONSTANT = 64 };

LLVMValueRef dh_read_strip_alias(LLVMValueRef v)
{
    for (int i = 0; i < DEEPEST_CONSTANT && LLVMIsAGlobalAlias(v); i++)
        v = LLVMAliasGetAliasee(v);
    return v;
}

void dh_read_bind(struct dh_model_reader *r, LLVMValueRef v, dh_value value)
{
    *dh_ptr_map_at(&r->values, v) = (void *)((uintptr_t)value + 1);
}

/* ---- kinds ---- */
static bool type_has_pointer(LLVMTypeRef t, int depth)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMPointerTypeKind:
        return true;
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind:
        return type_has_pointer(LLVMGetElementType(t), depth + 1);
    case LLVMStructTypeKind:
        for (unsigned i = 0; depth < DEEPEST_CONSTANT && i < LLVMCountStructElementTypes(t); i++)
            if (type_has_pointer(LLVMStructGetTypeAtIndex(t, i), depth + 1))
                return true;
        return false;
    default:
        return false;
    }
}

static bool is_wide_integer(LLVMTypeRef t)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(t) >= 64;
    case LLVMVectorTypeKind:
    case LLVMArrayTypeKind:
        return is_wide_integer(LLVMGetElementType(t));
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(t); i++)
            if (is_wide_integer(LLVMStructGetTypeAtIndex(t, i)))
                return true;
        return false;
    default:
        return false;
    }
}

enum dh_register_kind dh_read_kind(struct dh_model_reader *r, LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    if (type_has_pointer(t, 0))
        return DH_REG_POINTER;
    return is_wide_integer(t) && dh_ptr_map_find(&r->wide, v) ? DH_REG_WIDE : DH_REG_DATA;
}

static bool is_kept(LLVMTypeRef t)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMPointerTypeKind:
    case LLVMIntegerTypeKind:
        return true;
    default:
        return type_has_pointer(t, 0) || is_wide_integer(t);
    }
}

uint32_t dh_read_result(struct dh_model_reader *r, LLVMValueRef v)
{
    if (!is_kept(LLVMTypeOf(v))) {
        dh_read_bind(r, v, r->data);
        return DH_NONE;
    }
    /* A phi or a use before the definition created it already. */
    uintptr_t known = (uintptr_t)dh_ptr_map_find(&r->values, v);
    if (known)
        return (uint32_t)(known - 1);
    uint32_t result = dh_build_register(r->p, dh_read_kind(r, v));
    dh_read_bind(r, v, result);
    return result;
}

/* ---- constants ---- */
uint32_t dh_read_library_variable(struct dh_model_reader *r, const char *name, bool tls)
{
    char *full = dh_format("%s%s", tls ? "$$" : "$", name);
    uint32_t string = dh_build_string(r->p, full);
    free(full);
    for (size_t i = 0; i < r->hidden.n; i++)
        if (r->p->globals.at[r->hidden.at[i]].name == string)
            return r->hidden.at[i];
    struct dh_global g = {.name = string, .flags = DH_GLOBAL_HIDDEN | (tls ? DH_GLOBAL_TLS : 0)};
    uint32_t index = dh_build_global(r->p, &g);
    dh_vec_push(&r->hidden, index);
    return index;
}

static dh_value add_bytes(struct dh_model_reader *r, dh_value base, int64_t bytes)
{
    struct dh_constant c = *dh_program_constant(r->p, base);
    if (c.kind == DH_CONST_GLOBAL || c.kind == DH_CONST_INT)
        return dh_build_constant(r->p, c.kind, c.index, c.number + bytes);
    return base;
}

/* Sum of the constant indices of an address expression, in bytes. */
static int64_t constant_offset(struct dh_model_reader *r, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    int64_t bytes = 0;
    for (unsigned i = 1; i <= LLVMGetNumIndices(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        int64_t at = LLVMIsAConstantInt(index) ? LLVMConstIntGetSExtValue(index) : 0;
        if (i == 1) {
            bytes += at * (int64_t)LLVMABISizeOfType(r->layout, type);
        } else if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            bytes += (int64_t)LLVMOffsetOfElement(r->layout, type, (unsigned)at);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)at);
        } else {
            type = LLVMGetElementType(type);
            bytes += at * (int64_t)LLVMABISizeOfType(r->layout, type);
        }
    }
    return bytes;
}

static dh_value read_constant_at(struct dh_model_reader *r, LLVMValueRef v, int depth);

static bool same_global(struct dh_model_reader *r, dh_value a, dh_value b)
{
    const struct dh_constant *x = dh_program_constant(r->p, a), *y = dh_program_constant(r->p, b);
    return x->kind == DH_CONST_GLOBAL && y->kind == DH_CONST_GLOBAL && x->index == y->index;
}

static dh_value read_constant_sum(struct dh_model_reader *r, LLVMValueRef v, int depth)
{
    dh_value a = read_constant_at(r, LLVMGetOperand(v, 0), depth), b = read_constant_at(r, LLVMGetOperand(v, 1), depth);
    int64_t n;
    if (LLVMGetConstOpcode(v) == LLVMAdd && dh_value_int(r->p, b, &n))
        return add_bytes(r, a, n);
    if (LLVMGetConstOpcode(v) == LLVMAdd && dh_value_int(r->p, a, &n))
        return add_bytes(r, b, n);
    if (LLVMGetConstOpcode(v) == LLVMSub && dh_value_int(r->p, b, &n))
        return add_bytes(r, a, -n);
    if (LLVMGetConstOpcode(v) == LLVMSub && same_global(r, a, b))
        return dh_build_int(r->p, dh_program_constant(r->p, a)->number - dh_program_constant(r->p, b)->number);
    /* Differences of addresses: relative tables. */
    if (LLVMGetConstOpcode(v) == LLVMSub)
        return a;
    dh_build_limit(r->p, DH_LIMIT_CONSTANT);
    return r->unknown;
}

static dh_value read_constant_expression(struct dh_model_reader *r, LLVMValueRef v, int depth)
{
    switch (LLVMGetConstOpcode(v)) {
    case LLVMGetElementPtr:
        return add_bytes(r, read_constant_at(r, LLVMGetOperand(v, 0), depth), constant_offset(r, v));
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMTrunc:
        return read_constant_at(r, LLVMGetOperand(v, 0), depth);
    case LLVMAdd:
    case LLVMSub:
        return read_constant_sum(r, v, depth);
    default:
        dh_build_limit(r->p, DH_LIMIT_CONSTANT);
        return r->unknown;
    }
}

static dh_value read_symbol(struct dh_model_reader *r, LLVMValueRef v)
{
    v = dh_read_strip_alias(v);
    uintptr_t index = (uintptr_t)dh_ptr_map_find(LLVMIsAFunction(v) ? &r->functions : &r->globals, v);
    if (index)
        return dh_build_constant(r->p, LLVMIsAFunction(v) ? DH_CONST_FUNCTION : DH_CONST_GLOBAL, (uint32_t)index - 1,
                                 0);
    return LLVMGetValueKind(v) == LLVMConstantExprValueKind ? read_constant_expression(r, v, 1) : r->unknown;
}

/* The only element of an aggregate that may hold a pointer, else unknown: such constants are rare operands. */
static dh_value read_aggregate(struct dh_model_reader *r, LLVMValueRef v, int depth)
{
    int n = LLVMGetNumOperands(v);
    dh_value found = r->data;
    for (int i = 0; i < n; i++) {
        dh_value one = read_constant_at(r, LLVMGetOperand(v, (unsigned)i), depth);
        uint32_t kind = dh_program_constant(r->p, one)->kind;
        if (kind == DH_CONST_DATA || kind == DH_CONST_INT || one == found)
            continue;
        if (found != r->data)
            return r->unknown;
        found = one;
    }
    return found;
}

static dh_value read_constant_at(struct dh_model_reader *r, LLVMValueRef v, int depth)
{
    if (depth > DEEPEST_CONSTANT)
        return r->unknown;
    switch (LLVMGetValueKind(v)) {
    case LLVMConstantIntValueKind:
        return LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64 ? r->data : dh_build_int(r->p, LLVMConstIntGetSExtValue(v));
    case LLVMConstantPointerNullValueKind:
        return dh_build_int(r->p, 0);
    case LLVMFunctionValueKind:
    case LLVMGlobalVariableValueKind:
    case LLVMGlobalAliasValueKind:
    case LLVMGlobalIFuncValueKind:
        return read_symbol(r, v);
    case LLVMConstantExprValueKind:
        return read_constant_expression(r, v, depth + 1);
    case LLVMConstantStructValueKind:
    case LLVMConstantArrayValueKind:
    case LLVMConstantVectorValueKind:
        return read_aggregate(r, v, depth + 1);
    case LLVMBlockAddressValueKind:
        return r->data;
    default:
        return r->data;
    }
}

dh_value dh_read_constant(struct dh_model_reader *r, LLVMValueRef v)
{
    return read_constant_at(r, v, 0);
}

dh_value dh_read_value(struct dh_model_reader *r, LLVMValueRef v)
{
    if (LLVMIsAConstant(v))
        return read_constant_at(r, v, 0);
    uintptr_t known = (uintptr_t)dh_ptr_map_find(&r->values, v);
    if (known)
        return (dh_value)(known - 1);
    if (!LLVMIsAInstruction(v) && !LLVMIsAArgument(v))
        return r->data;
    /* Used before it was read: a phi, or a block that comes later in the list than those it dominates. */
    uint32_t result = dh_read_result(r, v);
    return result == DH_NONE ? r->data : result;
}

/* ---- initial values ---- */
/* __cxa_pure_virtual: vtable entries that are never called; as a common target they would merge all vtables. */
static bool is_pure(LLVMValueRef v)
{
    size_t n;
    return LLVMIsAFunction(v) && strcmp(LLVMGetValueName2(v, &n), "__cxa_pure_virtual") == 0;
}

/* Integers are kept where they may be counts, not in tables. */
enum { COUNTERS_END = 256 };

static void read_initial(struct dh_model_reader *r, uint32_t global, LLVMValueRef v, uint64_t offset, int depth)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    if (depth > DEEPEST_CONSTANT || offset > UINT32_MAX)
        return;
    switch (LLVMGetValueKind(v)) {
    case LLVMConstantStructValueKind:
        for (int i = 0; i < LLVMGetNumOperands(v); i++)
            read_initial(r, global, LLVMGetOperand(v, (unsigned)i),
                         offset + LLVMOffsetOfElement(r->layout, t, (unsigned)i), depth + 1);
        return;
    case LLVMConstantArrayValueKind:
    case LLVMConstantVectorValueKind:
        for (int i = 0; i < LLVMGetNumOperands(v); i++)
            read_initial(r, global, LLVMGetOperand(v, (unsigned)i),
                         offset + (uint64_t)i * LLVMABISizeOfType(r->layout, LLVMGetElementType(t)), depth + 1);
        return;
    case LLVMConstantExprValueKind:
    case LLVMFunctionValueKind:
    case LLVMGlobalVariableValueKind:
    case LLVMGlobalAliasValueKind:
    case LLVMGlobalIFuncValueKind:
        if (!is_pure(v))
            dh_build_initial(r->p, global, (uint32_t)offset, read_constant_at(r, v, 0));
        return;
    case LLVMConstantIntValueKind:
        if (offset < COUNTERS_END && LLVMGetIntTypeWidth(t) <= 64 && !LLVMIsNull(v))
            dh_build_initial(r->p, global, (uint32_t)offset, read_constant_at(r, v, 0));
        return;
    default:
        return;
    }
}

void dh_read_initialiser(struct dh_model_reader *r, uint32_t global, LLVMValueRef value)
{
    read_initial(r, global, value, 0, 0);
}
