/* What an address points to: the base object, and the offset into it. */
#include "ir/access_names_internal.h"

#include "base/str.h"
#include "event/site.h"
#include "ir/symbol_names.h"

#include <string.h>

/* ---- opcodes ---- */

LLVMOpcode dh_value_opcode(LLVMValueRef v)
{
    if (LLVMIsAInstruction(v))
        return LLVMGetInstructionOpcode(v);
    return LLVMGetValueKind(v) == LLVMConstantExprValueKind ? LLVMGetConstOpcode(v) : 0;
}

/* Functions that return their first argument. */
static bool passes_argument(LLVMValueRef call)
{
    static const char *const names[] = {"llvm.threadlocal.address",
                                        "llvm.launder.invariant.group",
                                        "llvm.strip.invariant.group",
                                        "llvm.ptrmask",
                                        "llvm.preserve.struct.access",
                                        "llvm.preserve.array.access",
                                        "llvm.ptr.annotation",
                                        "llvm.expect",
                                        "llvm.ssa.copy",
                                        "__builtin_assume_aligned"};
    size_t len;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!callee || !LLVMIsAFunction(callee) || !LLVMGetNumArgOperands(call))
        return false;
    const char *name = LLVMGetValueName2(callee, &len);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dh_starts_with(name, names[i]))
            return true;
    return false;
}

/* The operand whose pointer value `v` repeats, NULL when it computes a new one. */
LLVMValueRef dh_value_forwarded(LLVMValueRef v)
{
    switch (dh_value_opcode(v)) {
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMIntToPtr:
    case LLVMPtrToInt:
    case LLVMFreeze:
    case LLVMTrunc:
    case LLVMZExt:
        return LLVMGetOperand(v, 0);
    case LLVMAnd: /* alignment and tag bits */
    case LLVMOr:
        return LLVMIsAConstantInt(LLVMGetOperand(v, 1)) ? LLVMGetOperand(v, 0) : NULL;
    case LLVMCall:
        return passes_argument(v) ? LLVMGetOperand(v, 0) : NULL;
    default:
        return NULL;
    }
}

static const char *record_name_of(LLVMTypeRef t)
{
    if (LLVMGetTypeKind(t) != LLVMStructTypeKind)
        return "";
    const char *name = LLVMGetStructName(t);
    return name ? name : "";
}

/* The record of an address computation. Linking merges records of one layout under any of their names, so the type's
 * name counts only if the debug information does not contradict it. */
static const char *record_of_gep(struct dh_namer *n, LLVMValueRef gep, bool *certain)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    LLVMValueRef note = LLVMIsAInstruction(gep) && LLVMGetTypeKind(type) == LLVMStructTypeKind && LLVMHasMetadata(gep)
                            ? LLVMGetMetadata(gep, n->record_kind)
                            : NULL;
    LLVMValueRef text = NULL;
    unsigned len;
    *certain = false;
    if (!note || LLVMGetMDNodeNumOperands(note) != 1)
        return record_name_of(type);
    LLVMGetMDNodeOperands(note, &text);
    *certain = true;
    const char *name = LLVMGetMDString(text, &len);
    return dh_arena_text(&n->arena, name, len);
}

/* ---- objects ---- */

static bool target_address_binding(struct dh_namer *n, LLVMValueRef v, struct target *t)
{
    for (const struct dh_binding *b = dh_bindings_find(&n->bindings, v); b; b = b->next) {
        if (!b->is_address || b->variable->artificial)
            continue;
        t->kind = TARGET_VARIABLE;
        t->variable = t->expr = b->variable->name;
        t->type = b->variable->type;
        t->offset = (int64_t)(b->expression->fragment / 8) - b->expression->add;
        t->flags = DH_SITE_LOCAL;
        return true;
    }
    return false;
}

static bool target_temporary(struct target *t)
{
    t->kind = TARGET_VARIABLE;
    t->variable = t->expr = "(temporary)";
    t->flags = DH_SITE_LOCAL | DH_SITE_ARTIFICIAL;
    return true;
}

static bool target_global(struct dh_namer *n, LLVMValueRef v, struct target *t)
{
    const struct dh_variable *known = dh_di_global(n->di, v);
    bool artificial = false;
    size_t len;
    t->kind = TARGET_VARIABLE;
    t->flags = DH_SITE_GLOBAL | (LLVMIsThreadLocal(v) ? DH_SITE_TLS : 0);
    if (known && *known->name) {
        t->variable = t->expr = known->name;
        t->type = known->type;
        t->offset = (int64_t)(known->part / 8);
        return true;
    }
    const char *symbol = LLVMGetValueName2(v, &len);
    if (known) { /* string literals are described, but have no name */
        t->type = known->type;
        t->variable = t->expr = "\"...\"";
    } else if (LLVMGetLinkage(v) == LLVMPrivateLinkage || !*symbol) {
        t->variable = t->expr = dh_starts_with(symbol, ".str") || !*symbol ? "\"...\"" : "(constant)";
        t->flags |= DH_SITE_ARTIFICIAL;
    } else {
        t->variable = t->expr = dh_symbol_source_name(&n->arena, symbol, &artificial);
    }
    if (artificial)
        t->flags |= DH_SITE_ARTIFICIAL;
    return true;
}

static bool is_result_argument(struct dh_namer *n, LLVMValueRef v)
{
    if (!LLVMIsAArgument(v))
        return false;
    for (unsigned i = 0; i < 2 && i < LLVMCountParams(n->function); i++)
        if (LLVMGetParam(n->function, i) == v)
            return LLVMGetEnumAttributeAtIndex(n->function, i + 1, n->sret_attribute);
    return false;
}

static bool target_pointee(struct dh_namer *n, LLVMValueRef v, const struct use *use, int depth, struct target *t)
{
    struct spelling s;
    if (!dh_value_spell(n, v, use, depth, &s)) {
        t->kind = TARGET_UNKNOWN;
        return false;
    }
    t->kind = TARGET_POINTEE;
    t->variable = s.variable;
    t->expr = s.expr;
    t->field = s.field;
    t->type = dh_type_pointee(n->di, s.type, &t->reference);
    t->reference |= s.is_reference;
    t->flags = s.artificial ? DH_SITE_ARTIFICIAL : 0;
    return true;
}

static bool target_root(struct dh_namer *n, LLVMValueRef v, const struct use *use, int depth, struct target *t)
{
    if (target_address_binding(n, v, t))
        return true;
    if (LLVMIsAAllocaInst(v))
        return target_temporary(t);
    if (LLVMIsAGlobalAlias(v))
        v = LLVMAliasGetAliasee(v);
    if (LLVMIsAGlobalVariable(v))
        return target_global(n, v, t);
    if (is_result_argument(n, v)) {
        const char *name;
        t->kind = TARGET_VARIABLE;
        t->variable = t->expr = "(result)";
        t->flags = DH_SITE_ARTIFICIAL;
        dh_di_function(n->di, n->function, &name, &t->type);
        return true;
    }
    return target_pointee(n, v, use, depth, t);
}

/* ---- address arithmetic ---- */

static bool has_virtual_base(struct dh_namer *n, struct dh_type *t)
{
    uint32_t count;
    t = dh_type_strip(n->di, t);
    if (!dh_type_is_record(t))
        return false;
    struct dh_type *const *members = dh_type_elements(n->di, t, &count);
    for (uint32_t i = 0; i < count; i++)
        if (members[i]->tag == DH_TAG_INHERITANCE &&
            (members[i]->flags & LLVMDIFlagVirtual || has_virtual_base(n, dh_type_base(n->di, members[i]))))
            return true;
    return false;
}

/* Reduces the offset modulo the object's size when the pointer iterates over an array of them. */
uint64_t dh_target_offset(struct dh_namer *n, const struct target *t)
{
    int64_t size = (int64_t)(dh_type_bits(n->di, t->type) / 8), at = t->offset;
    if (t->kind == TARGET_POINTEE && size && (at < 0 || (t->wandered && at >= size))) {
        at %= size;
        at += at < 0 ? size : 0;
    }
    return at < 0 ? 0 : (uint64_t)at;
}

/* The code treats the place as a record that the debug type does not have there: a cast, container_of, or a base
 * class at an offset known at run time only. */
static void follow_cast(struct dh_namer *n, struct target *t, LLVMValueRef gep)
{
    bool certain;
    const char *name = record_of_gep(n, gep, &certain);
    if (!*name)
        return;
    uint64_t bits = LLVMABISizeOfType(n->layout, LLVMGetGEPSourceElementType(gep)) * 8;
    if (t->type && dh_member_path_has_record(n->di, t->type, dh_target_offset(n, t) * 8, name, certain ? 0 : bits))
        return;
    struct dh_type *other = dh_di_record_named(n->di, name, bits);
    if (!other)
        return;
    if (t->kind == TARGET_VARIABLE && t->type && !has_virtual_base(n, t->type))
        t->kind = TARGET_POINTEE;
    t->type = other;
    t->offset = 0;
    t->steps = 0;
    t->wandered = false;
}

static void apply_first_index(struct dh_namer *n, struct target *t, LLVMTypeRef type, LLVMValueRef index, bool only)
{
    bool constant = LLVMIsAConstantInt(index);
    int64_t by = constant ? LLVMConstIntGetSExtValue(index) : 0;
    bool bytes = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 8;
    struct dh_type *s = dh_type_strip(n->di, t->type);
    t->offset += by * (int64_t)LLVMABISizeOfType(n->layout, type);
    if (!only && constant && !by)
        return;
    if (t->steps || t->kind == TARGET_VARIABLE)
        t->steps += only && by != 0 && t->steps == 0;
    else if (!(bytes && s && (dh_type_is_record(s))))
        t->wandered = true;
}

static void apply_gep(struct dh_namer *n, struct target *t, LLVMValueRef gep)
{
    unsigned count = LLVMGetNumIndices(gep);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    bool certain;
    if (count > 1)
        follow_cast(n, t, gep);
    apply_first_index(n, t, type, LLVMGetOperand(gep, 1), count == 1);
    for (unsigned i = 2; i <= count; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        bool constant = LLVMIsAConstantInt(index);
        int64_t at = constant ? LLVMConstIntGetSExtValue(index) : 0;
        if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            t->record = i == 2 ? record_of_gep(n, gep, &certain) : record_name_of(type);
            t->record_bits = LLVMABISizeOfType(n->layout, type) * 8;
            t->offset += (int64_t)LLVMOffsetOfElement(n->layout, type, (unsigned)at);
            t->steps++;
            type = LLVMStructGetTypeAtIndex(type, (unsigned)at);
        } else {
            type = LLVMGetElementType(type);
            t->offset += at * (int64_t)LLVMABISizeOfType(n->layout, type);
            t->steps += !constant || at;
        }
    }
}

static const struct dh_binding *binding_via(struct dh_namer *n, LLVMValueRef v, LLVMMetadataRef via)
{
    for (const struct dh_binding *b = via ? dh_bindings_find(&n->bindings, v) : NULL; b; b = b->next)
        if (b->node == via && !b->is_address && !b->inlined)
            return b;
    return NULL;
}

/* Whether the way up ends at a value inside the chain: at the variable the source used, or at the last step of
 * a pointer that walks (p++). */
static bool ends_at(struct dh_namer *n, LLVMValueRef v, const struct use *use)
{
    if (binding_via(n, v, use->via))
        return true;
    return !use->via && dh_value_opcode(v) == LLVMGetElementPtr && LLVMGetNumIndices(v) == 1 &&
           dh_binding_best(n, v, use);
}

/* One step towards the base object, NULL at the base. */
static LLVMValueRef step_up(LLVMValueRef pointer)
{
    return dh_value_opcode(pointer) == LLVMGetElementPtr ? LLVMGetOperand(pointer, 0) : dh_value_forwarded(pointer);
}

/* The hint helps only where SROA left the variable's value on the way; elsewhere it must not hide other names. */
static LLVMMetadataRef usable_via(struct dh_namer *n, LLVMValueRef pointer, LLVMMetadataRef via)
{
    for (int i = 0; via && pointer && i < MAX_CHAIN; i++, pointer = step_up(pointer))
        if (binding_via(n, pointer, via))
            return via;
    return NULL;
}

bool dh_target_find(struct dh_namer *n, LLVMValueRef pointer, const struct use *asked, int depth, struct target *t)
{
    struct use with_via = *asked, *use = &with_via;
    with_via.via = usable_via(n, pointer, asked->via);
    LLVMValueRef chain[MAX_CHAIN];
    unsigned count = 0;
    struct use inner = *use;
    *t = (struct target){.variable = "", .expr = "", .field = "", .record = ""};
    if (depth > MAX_RECURSION)
        return false;
    while (count < MAX_CHAIN && !ends_at(n, pointer, use)) {
        bool gep = dh_value_opcode(pointer) == LLVMGetElementPtr;
        LLVMValueRef next = step_up(pointer);
        if (!next || (!gep && dh_binding_best(n, pointer, use)))
            break;
        if (gep) {
            chain[count++] = pointer;
            bool certain;
            const char *record = record_of_gep(n, pointer, &certain);
            inner.record = *record ? record : inner.record;
        }
        pointer = next;
    }
    if (ends_at(n, pointer, use))
        target_pointee(n, pointer, &inner, depth, t);
    else
        target_root(n, pointer, &inner, depth, t);
    while (count)
        apply_gep(n, t, chain[--count]);
    return t->kind != TARGET_UNKNOWN || t->type;
}
