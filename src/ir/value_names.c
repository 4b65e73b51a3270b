/* The source expression of a value: the variable that holds it, the memory it was loaded from, the call that returned
 * it. */
#include "ir/access_names_internal.h"

#include "base/str.h"
#include "event/site.h"
#include "ir/symbol_names.h"

#include <string.h>

/* ---- local variables ---- */

/* Holding the value in a pointer of the type that is used counts most. */
static int binding_score(struct dh_namer *n, const struct dh_binding *b, const struct use *use)
{
    bool reference;
    int score = b->inlined ? 0 : 1;
    if (b->node == use->via && !b->inlined)
        return 1000;
    if (b->expression->fragment_size)
        return score + 1;
    struct dh_type *to = dh_type_pointee(n->di, b->variable->type, &reference);
    struct dh_type *s = dh_type_strip(n->di, to);
    if (!s)
        return score;
    if (*use->record)
        return score + (dh_member_path_has_record(n->di, to, 0, use->record, 0) ? 16 : dh_type_is_record(s) ? 4 : 2);
    if (dh_type_is_record(s))
        return score + 6;
    return score + (use->bits && dh_type_bits(n->di, s) == use->bits ? 8 : 4);
}

const struct dh_binding *dh_binding_best(struct dh_namer *n, LLVMValueRef v, const struct use *use)
{
    const struct dh_binding *best = NULL;
    int best_score = -1;
    for (const struct dh_binding *b = dh_bindings_find(&n->bindings, v); b; b = b->next) {
        if (b->is_address || b->variable->artificial)
            continue;
        /* Among equals the one named last before the access: lists run from the latest to the first. */
        int score = binding_score(n, b, use) * 2 + (b->order <= use->order);
        if (score > best_score) {
            best = b;
            best_score = score;
        }
    }
    return best;
}

static bool spell_binding(struct dh_namer *n, const struct dh_binding *b, struct spelling *s)
{
    *s = (struct spelling){b->variable->name, b->variable->name, "", b->variable->type, true, false, false};
    if (b->expression->fragment_size) {
        struct dh_named_access whole = {.bits = b->expression->fragment_size, .tbaa = "", .ir_record = ""};
        struct dh_member_path path;
        dh_member_path_find(n->di, &n->arena, b->variable->type, b->expression->fragment, &whole, &path);
        s->variable = s->expr = dh_namer_join(n, s->variable, path.text, "");
        s->type = path.type;
    }
    return true;
}

/* ---- values ---- */

static const char *callee_spelling(struct dh_namer *n, LLVMValueRef call, struct dh_type **result)
{
    size_t len;
    const char *name = "";
    LLVMValueRef callee = LLVMGetCalledValue(call);
    *result = NULL;
    if (!callee || !LLVMIsAFunction(callee)) {
        struct spelling s;
        struct use use = {"", 0, NULL, UINT32_MAX};
        if (callee && !LLVMIsAInlineAsm(callee) && dh_value_spell(n, callee, &use, MAX_RECURSION - 2, &s))
            return s.expr;
        return "";
    }
    if (!dh_di_function(n->di, callee, &name, result)) {
        bool artificial = false;
        name = dh_symbol_source_name(&n->arena, LLVMGetValueName2(callee, &len), &artificial);
    }
    return name;
}

/* A method that stands for an operator reads as the operator: v[], *it. */
static bool spell_operator(struct dh_namer *n, LLVMValueRef call, const char *name, int depth, struct spelling *s)
{
    static const struct {
        const char *name, *before, *after;
    } operators[] = {{"operator[]", "", "[]"}, {"operator*", "*", ""}, {"operator->", "", ""}, {"operator=", "", ""},
                     {"operator++", "", ""},   {"operator+=", "", ""}, {"operator--", "", ""}};
    struct target t;
    struct use use = {"", 0, NULL, UINT32_MAX};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(name, operators[i].name) || !LLVMGetNumArgOperands(call))
            continue;
        if (!dh_target_find(n, LLVMGetOperand(call, 0), &use, depth + 1, &t))
            return false;
        struct dh_named_access access = {.tbaa = "", .ir_record = t.record, .steps = t.steps, .whole = true};
        struct dh_access_name object;
        struct dh_type *type;
        dh_name_compose(n, &t, &access, &object, &type);
        s->variable =
            dh_namer_join(n, operators[i].before, *object.variable ? object.variable : object.expr, operators[i].after);
        s->expr = dh_namer_join(n, operators[i].before, object.expr, operators[i].after);
        s->field = *object.field ? dh_namer_join(n, operators[i].before, object.field, operators[i].after) : "";
        return true;
    }
    return false;
}

static bool spell_call(struct dh_namer *n, LLVMValueRef call, int depth, struct spelling *s)
{
    const char *name = callee_spelling(n, call, &s->type);
    s->known = true;
    if (!strcmp(name, "__errno_location")) {
        s->variable = s->expr = "errno";
        s->is_reference = true;
        return true;
    }
    if (dh_starts_with(name, "operator") && spell_operator(n, call, name, depth, s))
        return true;
    s->variable = s->expr = dh_namer_join(n, dh_namer_primary(n, *name ? name : "(*)"), "()", "");
    return true;
}

/* Whether a loaded value is a vtable pointer by its TBAA tag. */
static bool reads_vtable(struct dh_namer *n, LLVMValueRef instruction)
{
    return LLVMIsAInstruction(instruction) && strstr(dh_namer_tbaa(n, instruction), "vtable pointer");
}

/* The expression of a loaded value is that of its address. */
static bool spell_read(struct dh_namer *n, LLVMValueRef pointer, LLVMValueRef instruction, LLVMTypeRef type, int depth,
                       struct spelling *s)
{
    struct target t;
    struct dh_access_name name;
    uint64_t bits = LLVMABISizeOfType(n->layout, type) * 8;
    LLVMValueRef via = LLVMIsAInstruction(instruction) ? LLVMGetMetadata(instruction, n->via_kind) : NULL;
    struct use use = {"", bits, dh_md_node(via), UINT32_MAX};
    if (!dh_target_find(n, pointer, &use, depth + 1, &t))
        return false;
    struct dh_named_access access = {
        .bits = bits, .tbaa = "", .ir_record = t.record, .record_bits = t.record_bits, .steps = t.steps};
    if (LLVMIsAInstruction(instruction)) {
        access.location = LLVMInstructionGetDebugLoc(instruction);
        access.sources = n->sources;
    }
    access.kind = LLVMGetTypeKind(type) == LLVMPointerTypeKind ? DH_VALUE_POINTER : DH_VALUE_ANY;
    dh_name_compose(n, &t, &access, &name, &s->type);
    s->variable = name.variable;
    s->expr = *name.expr ? name.expr : name.variable;
    s->field = name.field;
    s->artificial = name.flags & DH_SITE_ARTIFICIAL || reads_vtable(n, instruction);
    return s->known = *s->variable != '\0';
}

static bool spell_either(struct dh_namer *n, LLVMValueRef v, unsigned from, unsigned to, int depth, struct spelling *s)
{
    struct use use = {"", 0, NULL, UINT32_MAX};
    bool phi = dh_value_opcode(v) == LLVMPHI;
    struct spelling untyped = {.variable = "", .expr = "", .field = ""};
    for (unsigned i = from; i < to; i++) {
        LLVMValueRef operand = phi ? LLVMGetIncomingValue(v, i) : LLVMGetOperand(v, i);
        if (operand == v || !dh_value_spell(n, operand, &use, depth + 1, s))
            continue;
        if (s->type)
            return true;
        untyped = *s;
    }
    *s = untyped;
    return s->known;
}

/* A pointer into an object, as a value: &object.member. Its type is that of a pointer to what it meets, so only
 * the spelling is useful here. */
static bool spell_address(struct dh_namer *n, LLVMValueRef v, int depth, struct spelling *s)
{
    struct target t;
    struct use use = {"", 0, NULL, UINT32_MAX};
    if (!dh_target_find(n, v, &use, depth + 1, &t) || t.kind == TARGET_UNKNOWN)
        return false;
    struct dh_named_access access = {.tbaa = "", .ir_record = t.record, .steps = t.steps, .whole = true};
    struct dh_access_name name;
    dh_name_compose(n, &t, &access, &name, &s->type);
    s->variable = name.variable;
    s->expr = name.expr;
    s->type = NULL;
    return s->known = *s->variable != '\0';
}

static bool spell_unnamed(struct dh_namer *n, LLVMValueRef v, int depth, struct spelling *s)
{
    struct use use = {"", 0, NULL, UINT32_MAX};
    LLVMValueRef same = dh_value_forwarded(v);
    if (same)
        return dh_value_spell(n, same, &use, depth + 1, s);
    switch (dh_value_opcode(v)) {
    case LLVMLoad:
        return spell_read(n, LLVMGetOperand(v, 0), v, LLVMTypeOf(v), depth, s);
    case LLVMAtomicRMW:
        return spell_read(n, LLVMGetOperand(v, 0), v, LLVMTypeOf(v), depth, s);
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        return spell_call(n, v, depth, s);
    case LLVMPHI:
        return spell_either(n, v, 0, LLVMCountIncoming(v), depth, s);
    case LLVMSelect:
        return spell_either(n, v, 1, 3, depth, s);
    case LLVMAdd:
    case LLVMSub:
    case LLVMAnd:
    case LLVMOr:
        return spell_either(n, v, 0, 2, depth, s);
    case LLVMExtractValue: {
        LLVMValueRef whole = LLVMGetOperand(v, 0);
        if (dh_value_opcode(whole) == LLVMAtomicCmpXchg)
            return spell_read(n, LLVMGetOperand(whole, 0), whole, LLVMTypeOf(v), depth, s);
        return dh_value_spell(n, whole, &use, depth + 1, s);
    }
    case LLVMExtractElement:
        return dh_value_spell(n, LLVMGetOperand(v, 0), &use, depth + 1, s);
    case LLVMGetElementPtr:
    case LLVMAlloca:
        return spell_address(n, v, depth, s);
    default:
        return LLVMIsAGlobalVariable(v) && spell_address(n, v, depth, s);
    }
}

bool dh_value_spell(struct dh_namer *n, LLVMValueRef v, const struct use *use, int depth, struct spelling *s)
{
    *s = (struct spelling){"", "", "", NULL, false, false, false};
    if (depth > MAX_RECURSION)
        return false;
    const struct dh_binding *b = dh_binding_best(n, v, use);
    if (b)
        return spell_binding(n, b, s);
    struct spelling *known = dh_ptr_map_find(&n->spellings, v);
    if (known) {
        *s = *known;
        return s->known;
    }
    known = dh_arena_take(&n->arena, sizeof *known);
    known->variable = known->expr = known->field = "";
    *dh_ptr_map_at(&n->spellings, v) = known; /* unknown during the query: ends cycles of phis */
    if (!spell_unnamed(n, v, depth, s))
        *s = (struct spelling){"", "", "", NULL, false, false, false};
    *known = *s;
    return s->known;
}
