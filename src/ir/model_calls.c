/* Calls: of functions of the program, of intrinsics, of libraries. */
#include "base/str.h"
#include "ir/model_internal.h"
#include "model/library_names.h"

#include <string.h>

uint32_t dh_read_signature(struct dh_model_reader *r, LLVMTypeRef type)
{
    void **slot = dh_ptr_map_at(&r->signatures, type);
    if (!*slot)
        *slot = (void *)(uintptr_t)++r->n_signatures;
    return (uint32_t)(uintptr_t)*slot;
}

/* ---- intrinsics ---- */
enum intrinsic {
    INTRINSIC_NOTHING, /* no value that matters, no memory */
    INTRINSIC_SAME,    /* returns its first argument */
    INTRINSIC_MIX,
    INTRINSIC_COPY,
    INTRINSIC_SET,
    INTRINSIC_VA_START,
    INTRINSIC_VA_COPY,
    INTRINSIC_MASKED_LOAD,
    INTRINSIC_MASKED_STORE,
    INTRINSIC_STOP
};

static enum intrinsic find_intrinsic(const char *name)
{
    static const struct {
        const char *prefix;
        enum intrinsic kind;
    } table[] = {{"llvm.memcpy", INTRINSIC_COPY},
                 {"llvm.memmove", INTRINSIC_COPY},
                 {"llvm.memset", INTRINSIC_SET},
                 {"llvm.va_start", INTRINSIC_VA_START},
                 {"llvm.va_copy", INTRINSIC_VA_COPY},
                 {"llvm.masked.load", INTRINSIC_MASKED_LOAD},
                 {"llvm.masked.gather", INTRINSIC_MASKED_LOAD},
                 {"llvm.masked.store", INTRINSIC_MASKED_STORE},
                 {"llvm.masked.scatter", INTRINSIC_MASKED_STORE},
                 {"llvm.threadlocal.address", INTRINSIC_SAME},
                 {"llvm.launder.invariant.group", INTRINSIC_SAME},
                 {"llvm.strip.invariant.group", INTRINSIC_SAME},
                 {"llvm.ptrmask", INTRINSIC_SAME},
                 {"llvm.ptr.annotation", INTRINSIC_SAME},
                 {"llvm.preserve", INTRINSIC_SAME},
                 {"llvm.expect", INTRINSIC_SAME},
                 {"llvm.ssa.copy", INTRINSIC_SAME},
                 {"llvm.uadd.", INTRINSIC_MIX},
                 {"llvm.sadd.", INTRINSIC_MIX},
                 {"llvm.usub.", INTRINSIC_MIX},
                 {"llvm.ssub.", INTRINSIC_MIX},
                 {"llvm.umax", INTRINSIC_MIX},
                 {"llvm.umin", INTRINSIC_MIX},
                 {"llvm.smax", INTRINSIC_MIX},
                 {"llvm.smin", INTRINSIC_MIX},
                 {"llvm.bswap", INTRINSIC_MIX},
                 {"llvm.fsh", INTRINSIC_MIX},
                 {"llvm.vector.", INTRINSIC_MIX},
                 {"llvm.trap", INTRINSIC_STOP},
                 {"llvm.ubsantrap", INTRINSIC_STOP}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (dh_starts_with(name, table[i].prefix))
            return table[i].kind;
    return INTRINSIC_NOTHING;
}

static uint32_t constant_size(LLVMValueRef v)
{
    if (!LLVMIsAConstantInt(v))
        return 0;
    uint64_t n = LLVMConstIntGetZExtValue(v);
    return n > UINT32_MAX ? 0 : (uint32_t)n;
}

static void read_memory_intrinsic(struct dh_model_reader *r, LLVMValueRef call, enum dh_inst_op op)
{
    LLVMValueRef length = LLVMGetOperand(call, 2);
    dh_value to = dh_read_value(r, LLVMGetOperand(call, 0)), what = dh_read_value(r, LLVMGetOperand(call, 1)),
             n = dh_read_value(r, length);
    if (LLVMIsAConstantInt(length) && !LLVMConstIntGetZExtValue(length))
        return;
    dh_emit2(r, op, DH_NONE, to, what)->size = constant_size(length);
    dh_build_operand(r->p, n);
}

/* The list gets two pointers to the array of arguments: those passed in registers, those passed on the stack. */
static void read_va_start(struct dh_model_reader *r, dh_value list)
{
    dh_value all = r->varargs == DH_NONE ? r->unknown : r->varargs;
    dh_build_limit(r->p, DH_LIMIT_VARIADIC);
    dh_emit_store(r, dh_emit_offset(r, list, 8), all, 8);
    dh_emit_store(r, dh_emit_offset(r, list, 16), all, 8);
}

static void read_mix(struct dh_model_reader *r, LLVMValueRef call)
{
    unsigned n = LLVMGetNumArgOperands(call);
    dh_value a = n ? dh_read_value(r, LLVMGetOperand(call, 0)) : r->data;
    dh_value b = n > 1 ? dh_read_value(r, LLVMGetOperand(call, 1)) : r->data;
    uint32_t result = dh_read_result(r, call);
    if (result != DH_NONE)
        dh_emit2(r, DH_I_MIX, result, a, b);
}

static void read_masked(struct dh_model_reader *r, LLVMValueRef call, bool store)
{
    dh_build_limit(r->p, DH_LIMIT_VECTOR);
    if (store) {
        dh_value v = dh_read_value(r, LLVMGetOperand(call, 0)), at = dh_read_value(r, LLVMGetOperand(call, 1));
        dh_emit2(r, DH_I_STORE, DH_NONE, at, v);
        return;
    }
    dh_value at = dh_read_value(r, LLVMGetOperand(call, 0));
    dh_emit1(r, DH_I_LOAD, dh_read_result(r, call), at);
}

static bool read_intrinsic(struct dh_model_reader *r, LLVMValueRef call, const char *name)
{
    switch (find_intrinsic(name)) {
    case INTRINSIC_COPY:
        read_memory_intrinsic(r, call, DH_I_MEMCPY);
        return true;
    case INTRINSIC_SET:
        read_memory_intrinsic(r, call, DH_I_MEMSET);
        return true;
    case INTRINSIC_SAME: {
        dh_value same = dh_read_value(r, LLVMGetOperand(call, 0));
        uint32_t result = dh_read_result(r, call);
        if (result != DH_NONE)
            dh_emit1(r, DH_I_COPY, result, same);
        return true;
    }
    case INTRINSIC_MIX:
        read_mix(r, call);
        return true;
    case INTRINSIC_VA_START:
        read_va_start(r, dh_read_value(r, LLVMGetOperand(call, 0)));
        return true;
    case INTRINSIC_VA_COPY: {
        dh_value to = dh_read_value(r, LLVMGetOperand(call, 0)), from = dh_read_value(r, LLVMGetOperand(call, 1));
        dh_emit2(r, DH_I_MEMCPY, DH_NONE, to, from)->size = 24;
        dh_build_operand(r->p, dh_build_int(r->p, 24));
        return true;
    }
    case INTRINSIC_MASKED_LOAD:
        read_masked(r, call, false);
        return true;
    case INTRINSIC_MASKED_STORE:
        read_masked(r, call, true);
        return true;
    case INTRINSIC_STOP:
        return false;
    default:
        if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind) {
            uint32_t result = dh_read_result(r, call);
            if (result != DH_NONE)
                dh_emit1(r, DH_I_COPY, result, r->data);
        }
        return true;
    }
}

/* ---- arguments ---- */
struct list {
    DH_VEC(dh_value) at;
    DH_VEC(LLVMValueRef) values;
};

static LLVMTypeRef byval_type(LLVMValueRef call, unsigned argument)
{
    static unsigned kind;
    if (!kind)
        kind = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(call, argument + 1, kind);
    return a ? LLVMGetTypeAttributeValue(a) : NULL;
}

/* byval: the callee gets a copy. */
static dh_value copy_argument(struct dh_model_reader *r, dh_value from, LLVMTypeRef type)
{
    uint64_t size = LLVMABISizeOfType(r->layout, type);
    uint32_t slot = dh_emit_register(r);
    struct dh_inst *i = dh_emit(r, DH_I_SLOT, slot);
    i->size = (uint32_t)size;
    i->flags |= DH_INST_SYNTHETIC;
    i = dh_emit2(r, DH_I_MEMCPY, DH_NONE, slot, from);
    i->size = (uint32_t)size;
    i->flags |= DH_INST_SYNTHETIC;
    dh_build_operand(r->p, dh_build_int(r->p, (int64_t)size));
    return slot;
}

static void read_arguments(struct dh_model_reader *r, LLVMValueRef call, struct list *list)
{
    for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++) {
        LLVMValueRef v = LLVMGetOperand(call, n);
        LLVMTypeRef type = byval_type(call, n);
        dh_value value = LLVMGetValueKind(v) == LLVMMetadataAsValueValueKind ? r->data : dh_read_value(r, v);
        dh_vec_push(&list->at, type ? copy_argument(r, value, type) : value);
        dh_vec_push(&list->values, v);
    }
}

static void release(struct list *list)
{
    dh_vec_release(&list->at);
    dh_vec_release(&list->values);
}

/* ---- the program's own functions ---- */
/* Variadic arguments are one array; each may be at any index. */
static dh_value make_varargs(struct dh_model_reader *r, const struct list *list, unsigned first)
{
    if (list->at.n <= first)
        return dh_build_int(r->p, 0);
    uint32_t site = r->site, array = dh_emit_register(r);
    r->site = DH_NO_SITE;
    dh_emit(r, DH_I_SLOT, array)->flags |= DH_INST_SYNTHETIC;
    uint32_t any = dh_emit_register(r);
    dh_emit2(r, DH_I_INDEX, any, array, r->data)->size = 8;
    for (size_t n = first; n < list->at.n; n++)
        dh_emit_store(r, any, list->at.at[n], 8);
    r->site = site;
    return array;
}

static void emit_call(struct dh_model_reader *r, LLVMValueRef call, dh_value callee, const struct list *list)
{
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    unsigned n_fixed = LLVMCountParamTypes(type);
    uint32_t function = dh_value_function(r->p, callee);
    bool variadic = LLVMIsFunctionVarArg(type) ||
                    (function != DH_NONE && r->p->functions.at[function].flags & DH_FUNCTION_VARIADIC);
    if (function != DH_NONE && variadic && r->p->functions.at[function].n_params)
        n_fixed = r->p->functions.at[function].n_params - 1;
    dh_value rest = variadic ? make_varargs(r, list, n_fixed) : r->data;
    uint32_t result = LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind ? DH_NONE : dh_read_result(r, call);
    dh_emit1(r, DH_I_CALL, result, callee)->extra = dh_read_signature(r, type);
    for (unsigned n = 0; n < list->at.n && (n < n_fixed || !variadic); n++)
        dh_build_operand(r->p, list->at.at[n]);
    for (size_t n = list->at.n; variadic && n < n_fixed; n++)
        dh_build_operand(r->p, r->data);
    if (variadic)
        dh_build_operand(r->p, rest);
}

/* ---- libraries ---- */
/* The call, or the function that it calls, has the attribute. */
static bool has_attribute(LLVMValueRef call, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind) ||
           (LLVMIsAFunction(callee) && LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind));
}

static bool read_library(struct dh_model_reader *r, LLVMValueRef call, const char *name,
                         const struct dh_library_function *known, const struct list *list)
{
    bool empty = LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind;
    struct dh_arguments a = {.at = list->at.at,
                             .values = list->values.at,
                             .n = (unsigned)list->at.n,
                             .result = empty ? DH_NONE : dh_read_result(r, call),
                             .pointer = !empty && LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind,
                             .name = name};
    if (known)
        return dh_read_effects(r, known, &a);
    dh_build_limit(r->p, DH_LIMIT_FOREIGN_CALL);
    dh_build_foreign(r->p, name);
    dh_read_unknown_call(r, &a);
    return true;
}

/* Inline assembly without operands is a compiler barrier or a processor hint. */
static bool read_assembly(struct dh_model_reader *r, LLVMValueRef call, const struct list *list)
{
    if (!list->at.n && LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind)
        return true;
    dh_build_limit(r->p, DH_LIMIT_ASSEMBLY);
    struct dh_arguments a = {.at = list->at.at,
                             .n = (unsigned)list->at.n,
                             .result = LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind ? DH_NONE
                                                                                             : dh_read_result(r, call),
                             .name = "asm"};
    dh_read_unknown_call(r, &a);
    return true;
}

/* Calls of C++ libraries have no sites: their lock or object is named here. */
static void name_library_argument(struct dh_model_reader *r, LLVMValueRef call, const char *name)
{
    unsigned argument = dh_library_class_of_member(name) == DH_LIBRARY_LOCK_GUARD ? 1 : 0;
    if (argument < LLVMGetNumArgOperands(call) && dh_is_library_function(name) &&
        LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, argument))) == LLVMPointerTypeKind)
        dh_read_name_argument(r, call, LLVMGetOperand(call, argument), 0);
}

static bool read_named(struct dh_model_reader *r, LLVMValueRef call, LLVMValueRef callee, const struct list *list)
{
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    const struct dh_library_function *known = dh_library_models_find(r->models, name);
    if (dh_read_relock(r, call, callee))
        return true;
    if (LLVMIsDeclaration(callee) || dh_read_model_replaces_body(r, name, known)) {
        r->temporary = false;
        name_library_argument(r, call, name);
        return read_library(r, call, name, known, list);
    }
    if (dh_read_element(r, call, callee, list->at.at, (unsigned)list->at.n))
        return true;
    dh_read_object_call(r, call, callee, list->at.at, (unsigned)list->at.n);
    emit_call(r, call, dh_read_constant(r, callee), list);
    return true;
}

bool dh_read_call(struct dh_model_reader *r, LLVMValueRef call)
{
    LLVMValueRef callee = dh_read_strip_alias(LLVMGetCalledValue(call));
    struct list list = {0};
    size_t n;
    bool returns = true;
    r->throws = false;
    if (LLVMIsAFunction(callee) && dh_starts_with(LLVMGetValueName2(callee, &n), "llvm."))
        return read_intrinsic(r, call, LLVMGetValueName2(callee, &n));
    if (has_attribute(call, "returns_twice")) {
        dh_build_limit(r->p, DH_LIMIT_SETJMP);
        r->p->functions.at[r->index].flags |= DH_FUNCTION_RETURNS_TWICE;
    }
    read_arguments(r, call, &list);
    if (LLVMIsAInlineAsm(callee))
        returns = read_assembly(r, call, &list);
    else if (LLVMIsAFunction(callee))
        returns = read_named(r, call, callee, &list);
    else
        emit_call(r, call, dh_read_value(r, callee), &list);
    release(&list);
    return returns && !has_attribute(call, "noreturn");
}

/* ---- bodies for functions of libraries ---- */
void dh_read_library_body(struct dh_model_reader *r, LLVMValueRef function, uint32_t index)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(function);
    unsigned n = LLVMCountParamTypes(type);
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    const struct dh_library_function *known = dh_library_models_find(r->models, name);
    struct list list = {0};
    dh_build_body(r->p, index);
    r->index = index;
    r->n_blocks = 0;
    r->first_edge = (uint32_t)r->p->edges.n;
    for (unsigned i = 0; i < n; i++)
        dh_vec_push(&list.at, dh_build_register(r->p, LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(function, i))) ==
                                                              LLVMPointerTypeKind
                                                          ? DH_REG_POINTER
                                                          : DH_REG_WIDE));
    if (LLVMIsFunctionVarArg(type))
        dh_vec_push(&list.at, dh_build_register(r->p, DH_REG_POINTER));
    bool pointer = LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMPointerTypeKind;
    bool empty = LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind;
    dh_emit_set_place(r, NULL);
    dh_emit_block(r);
    struct dh_arguments a = {.at = list.at.at,
                             .n = (unsigned)list.at.n,
                             .result =
                                 empty ? DH_NONE : dh_build_register(r->p, pointer ? DH_REG_POINTER : DH_REG_DATA),
                             .pointer = pointer,
                             .name = name};
    bool returns = true;
    if (known)
        returns = dh_read_effects(r, known, &a);
    else
        dh_read_unknown_call(r, &a);
    if (!known)
        dh_build_foreign(r->p, name);
    dh_emit(r, returns ? DH_I_RETURN : r->throws ? DH_I_THROW : DH_I_STOP, DH_NONE);
    if (returns && !empty)
        dh_build_operand(r->p, a.result);
    release(&list);
}
