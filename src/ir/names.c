/* Resolves addresses. Two questions call each other: what does a pointer point to (struct target), and how would
 * the source write a value (struct spelling). The answers meet in compose(). */
#include "ir/names.h"

#include "base/str.h"
#include "event/site.h"
#include "ir/bindings.h"
#include "ir/path.h"
#include "ir/symbol.h"

#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

struct dh_namer {
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    struct dh_di *di;
    struct dh_bindings bindings;
    struct dh_map spellings; /* of values without a variable of their own */
    struct dh_arena arena;   /* of the function at hand */
    LLVMValueRef function;
    bool cxx;
    unsigned tbaa_kind, via_kind, record_kind, sret_attribute;
};

/* How the source writes a value. */
struct spelling {
    const char *variable, *expr, *field;
    struct dh_type *type;
    bool known, artificial;
    bool is_reference; /* a call that gives back a reference whose type is not known */
};

enum target_kind { TARGET_UNKNOWN, TARGET_VARIABLE, TARGET_POINTEE };

/* What an address leads to: an object and a place in it. */
struct target {
    enum target_kind kind;
    const char *variable, *expr; /* of the object, or of the pointer that leads to it */
    const char *field;           /* member part of a pointer that is itself a member, "" = none */
    struct dh_type *type;        /* of the object */
    const char *record;          /* IR name of the record when `type` is unknown or for unions, "" = none */
    int64_t offset;              /* bytes */
    unsigned steps;              /* levels the address went down */
    unsigned flags;
    bool wandered;  /* pointer arithmetic on the pointer itself */
    bool reference; /* reached through a reference */
};

/* Why we ask: to choose among several variables that hold the same value. */
struct use {
    const char *record; /* outermost record the address goes through */
    uint64_t bits;
    LLVMMetadataRef via;
    uint32_t order;
};

enum { MAX_CHAIN = 64, MAX_RECURSION = 12 };

static bool find_target(struct dh_namer *n, LLVMValueRef pointer, const struct use *use, int depth, struct target *t);
static bool spell_value(struct dh_namer *n, LLVMValueRef v, const struct use *use, int depth, struct spelling *s);
static void compose(struct dh_namer *n, const struct target *t, struct dh_access *access, struct dh_name *name,
                    struct dh_type **type);

struct dh_namer *dh_namer_new(LLVMModuleRef m, struct dh_di *di)
{
    struct dh_namer *n = calloc(1, sizeof *n);
    if (!n)
        abort();
    LLVMContextRef context = LLVMGetModuleContext(m);
    n->module = m;
    n->di = di;
    n->layout = LLVMGetModuleDataLayout(m);
    n->tbaa_kind = LLVMGetMDKindIDInContext(context, "tbaa", 4);
    n->via_kind = LLVMGetMDKindIDInContext(context, DH_VIA_METADATA, strlen(DH_VIA_METADATA));
    n->record_kind = LLVMGetMDKindIDInContext(context, DH_RECORD_METADATA, strlen(DH_RECORD_METADATA));
    n->sret_attribute = LLVMGetEnumAttributeKindForName("sret", 4);
    return n;
}

void dh_namer_free(struct dh_namer *n)
{
    if (!n)
        return;
    dh_bindings_release(&n->bindings);
    dh_map_release(&n->spellings);
    dh_arena_release(&n->arena);
    free(n);
}

void dh_namer_enter(struct dh_namer *n, LLVMValueRef function)
{
    n->function = function;
    n->cxx = dh_di_scope(n->di, LLVMGetSubprogram(function))->cxx;
    dh_map_clear(&n->spellings);
    dh_arena_clear(&n->arena);
    dh_bindings_read(&n->bindings, n->di, function);
}

/* ---- text ---- */

static const char *join(struct dh_namer *n, const char *a, const char *b, const char *c)
{
    return dh_arena_join(&n->arena, a, b, c, NULL);
}

/* Something that binds tighter follows: "*p" becomes "(*p)". */
static const char *primary(struct dh_namer *n, const char *text)
{
    return *text == '*' ? join(n, "(", text, ")") : text;
}

static const char *without_dot(const char *path)
{
    return *path == '.' ? path + 1 : path;
}

/* ---- opcodes ---- */

static LLVMOpcode opcode_of(LLVMValueRef v)
{
    if (LLVMIsAInstruction(v))
        return LLVMGetInstructionOpcode(v);
    return LLVMGetValueKind(v) == LLVMConstantExprValueKind ? LLVMGetConstOpcode(v) : 0;
}

/* Functions that hand their first argument through. */
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
static LLVMValueRef passed_on(LLVMValueRef v)
{
    switch (opcode_of(v)) {
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

/* The record that an address computation is about. Linking unites records of one layout whatever their names, so
 * the type's own name is to be trusted only as far as the debug information does not contradict it. */
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
    return dh_arena_text(&n->arena, LLVMGetMDString(text, &len), len);
}

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
        return score + (dh_path_has_record(n->di, to, 0, use->record, 0) ? 16 : dh_type_is_record(s) ? 4 : 2);
    if (dh_type_is_record(s))
        return score + 6;
    return score + (use->bits && dh_type_bits(n->di, s) == use->bits ? 8 : 4);
}

static const struct dh_binding *best_binding(struct dh_namer *n, LLVMValueRef v, const struct use *use)
{
    const struct dh_binding *best = NULL;
    int best_score = -1;
    for (const struct dh_binding *b = dh_bindings_of(&n->bindings, v); b; b = b->next) {
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
        struct dh_access whole = {.bits = b->expression->fragment_size, .tbaa = "", .ir_record = ""};
        struct dh_path path;
        dh_path_find(n->di, &n->arena, b->variable->type, b->expression->fragment, &whole, &path);
        s->variable = s->expr = join(n, s->variable, path.text, "");
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
        if (callee && !LLVMIsAInlineAsm(callee) && spell_value(n, callee, &use, MAX_RECURSION - 2, &s))
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
        if (!find_target(n, LLVMGetOperand(call, 0), &use, depth + 1, &t))
            return false;
        struct dh_access access = {.tbaa = "", .ir_record = t.record, .steps = t.steps, .whole = true};
        struct dh_name object;
        struct dh_type *type;
        compose(n, &t, &access, &object, &type);
        s->variable =
            join(n, operators[i].before, *object.variable ? object.variable : object.expr, operators[i].after);
        s->expr = join(n, operators[i].before, object.expr, operators[i].after);
        s->field = *object.field ? join(n, operators[i].before, object.field, operators[i].after) : "";
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
    s->variable = s->expr = join(n, primary(n, *name ? name : "(*)"), "()", "");
    return true;
}

/* What is read from memory is written as the place it is read from. */
static bool spell_read(struct dh_namer *n, LLVMValueRef pointer, LLVMValueRef instruction, LLVMTypeRef type, int depth,
                       struct spelling *s)
{
    struct target t;
    struct dh_name name;
    uint64_t bits = LLVMABISizeOfType(n->layout, type) * 8;
    LLVMValueRef via = LLVMIsAInstruction(instruction) ? LLVMGetMetadata(instruction, n->via_kind) : NULL;
    struct use use = {"", bits, dh_md_node(via), UINT32_MAX};
    if (!find_target(n, pointer, &use, depth + 1, &t))
        return false;
    struct dh_access access = {.bits = bits, .tbaa = "", .ir_record = t.record, .steps = t.steps};
    access.kind = LLVMGetTypeKind(type) == LLVMPointerTypeKind ? DH_VALUE_POINTER : DH_VALUE_ANY;
    compose(n, &t, &access, &name, &s->type);
    s->variable = name.variable;
    s->expr = *name.expr ? name.expr : name.variable;
    s->field = name.field;
    s->artificial = name.flags & DH_SITE_ARTIFICIAL;
    return s->known = *s->variable != '\0';
}

static bool spell_either(struct dh_namer *n, LLVMValueRef v, unsigned from, unsigned to, int depth, struct spelling *s)
{
    struct use use = {"", 0, NULL, UINT32_MAX};
    bool phi = opcode_of(v) == LLVMPHI;
    struct spelling untyped = {.variable = "", .expr = "", .field = ""};
    for (unsigned i = from; i < to; i++) {
        LLVMValueRef operand = phi ? LLVMGetIncomingValue(v, i) : LLVMGetOperand(v, i);
        if (operand == v || !spell_value(n, operand, &use, depth + 1, s))
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
    if (!find_target(n, v, &use, depth + 1, &t) || t.kind == TARGET_UNKNOWN)
        return false;
    struct dh_access access = {.tbaa = "", .ir_record = t.record, .steps = t.steps, .whole = true};
    struct dh_name name;
    compose(n, &t, &access, &name, &s->type);
    s->variable = name.variable;
    s->expr = name.expr;
    s->type = NULL;
    return s->known = *s->variable != '\0';
}

static bool spell_unnamed(struct dh_namer *n, LLVMValueRef v, int depth, struct spelling *s)
{
    struct use use = {"", 0, NULL, UINT32_MAX};
    LLVMValueRef same = passed_on(v);
    if (same)
        return spell_value(n, same, &use, depth + 1, s);
    switch (opcode_of(v)) {
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
        if (opcode_of(whole) == LLVMAtomicCmpXchg)
            return spell_read(n, LLVMGetOperand(whole, 0), whole, LLVMTypeOf(v), depth, s);
        return spell_value(n, whole, &use, depth + 1, s);
    }
    case LLVMExtractElement:
        return spell_value(n, LLVMGetOperand(v, 0), &use, depth + 1, s);
    case LLVMGetElementPtr:
    case LLVMAlloca:
        return spell_address(n, v, depth, s);
    default:
        return LLVMIsAGlobalVariable(v) && spell_address(n, v, depth, s);
    }
}

static bool spell_value(struct dh_namer *n, LLVMValueRef v, const struct use *use, int depth, struct spelling *s)
{
    *s = (struct spelling){"", "", "", NULL, false, false, false};
    if (depth > MAX_RECURSION)
        return false;
    const struct dh_binding *b = best_binding(n, v, use);
    if (b)
        return spell_binding(n, b, s);
    struct spelling *known = dh_map_find(&n->spellings, v);
    if (known) {
        *s = *known;
        return s->known;
    }
    known = dh_arena_take(&n->arena, sizeof *known);
    known->variable = known->expr = known->field = "";
    *dh_map_at(&n->spellings, v) = known; /* unknown while we look: ends cycles of phis */
    if (!spell_unnamed(n, v, depth, s))
        *s = (struct spelling){"", "", "", NULL, false, false, false};
    *known = *s;
    return s->known;
}

/* ---- objects ---- */

static bool target_address_binding(struct dh_namer *n, LLVMValueRef v, struct target *t)
{
    for (const struct dh_binding *b = dh_bindings_of(&n->bindings, v); b; b = b->next) {
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
    if (!spell_value(n, v, use, depth, &s)) {
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

/* Makes the offset one into the object when the pointer walked over an array of them. */
static uint64_t offset_inside(struct dh_namer *n, const struct target *t)
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
    if (t->type && dh_path_has_record(n->di, t->type, offset_inside(n, t) * 8, name, certain ? 0 : bits))
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
    if (count > 1)
        follow_cast(n, t, gep);
    apply_first_index(n, t, type, LLVMGetOperand(gep, 1), count == 1);
    for (unsigned i = 2; i <= count; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        bool constant = LLVMIsAConstantInt(index);
        int64_t at = constant ? LLVMConstIntGetSExtValue(index) : 0;
        if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            t->record = record_name_of(type);
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
    for (const struct dh_binding *b = via ? dh_bindings_of(&n->bindings, v) : NULL; b; b = b->next)
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
    return !use->via && opcode_of(v) == LLVMGetElementPtr && LLVMGetNumIndices(v) == 1 && best_binding(n, v, use);
}

/* One step towards the object, NULL at its root. */
static LLVMValueRef step_up(LLVMValueRef pointer)
{
    return opcode_of(pointer) == LLVMGetElementPtr ? LLVMGetOperand(pointer, 0) : passed_on(pointer);
}

/* The hint helps only where SROA left the variable's value on the way; elsewhere it must not hide other names. */
static LLVMMetadataRef usable_via(struct dh_namer *n, LLVMValueRef pointer, LLVMMetadataRef via)
{
    for (int i = 0; via && pointer && i < MAX_CHAIN; i++, pointer = step_up(pointer))
        if (binding_via(n, pointer, via))
            return via;
    return NULL;
}

static bool find_target(struct dh_namer *n, LLVMValueRef pointer, const struct use *asked, int depth, struct target *t)
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
        bool gep = opcode_of(pointer) == LLVMGetElementPtr;
        LLVMValueRef next = step_up(pointer);
        if (!next || (!gep && best_binding(n, pointer, use)))
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

/* ---- composing ---- */

static const char *label_of(struct dh_namer *n, struct dh_type *t)
{
    const char *label = dh_type_label(n->di, t, n->cxx);
    /* The library's base class of std::atomic is an accident of its implementation. */
    if (dh_starts_with(label, "std::__atomic_base<"))
        return join(n, "std::atomic<", label + strlen("std::__atomic_base<"), "");
    if (!strcmp(label, "std::__atomic_flag_base"))
        return "std::atomic_flag";
    return label;
}

static bool is_lambda(const struct dh_type *t)
{
    return t->tag == DH_TAG_CLASS && !*t->name;
}

static void compose_record(struct dh_namer *n, const struct target *t, const struct dh_path *path, struct dh_name *name)
{
    struct dh_type *record = dh_type_strip(n->di, t->type);
    const char *label = label_of(n, path->owner ? path->owner : t->type);
    const char *member = without_dot(path->text);
    if (is_lambda(record) && *member) { /* a capture reads as the variable captured */
        const char *deeper = strchr(member, '.');
        name->variable = name->expr = member;
        name->field = deeper ? deeper + 1 : "";
        return;
    }
    const char *reached = t->wandered ? join(n, primary(n, t->expr), "[]", "") : t->expr;
    if (!*path->text)
        name->expr = t->wandered || t->reference || !*t->expr ? reached : join(n, "*", t->expr, "");
    else if (*t->expr)
        name->expr = join(n, primary(n, reached), t->wandered || t->reference ? "." : "->", member);
    if (*label)
        name->variable = join(n, label, path->text, "");
    else
        name->variable = *name->expr ? name->expr : member;
}

static void compose_scalar(struct dh_namer *n, const struct target *t, const struct dh_path *path, struct dh_name *name)
{
    const char *const from[] = {t->variable, t->expr, t->field};
    const char **to[] = {&name->variable, &name->expr, &name->field};
    for (int i = 0; i < 3; i++) {
        if (!*from[i])
            continue;
        if (t->reference)
            *to[i] = join(n, from[i], t->wandered ? "[]" : "", path->text);
        else if (t->wandered)
            *to[i] = join(n, primary(n, from[i]), "[]", path->text);
        else if (*path->text)
            *to[i] = dh_arena_join(&n->arena, "(*", from[i], ")", path->text, NULL);
        else
            *to[i] = join(n, "*", from[i], "");
    }
}

/* A record that only the IR knows: its name at least. */
static const char *ir_label(struct dh_namer *n, const char *record)
{
    const char *name = strchr(record, '.');
    if (!name || dh_starts_with(name, ".anon"))
        return "";
    if (n->cxx)
        return name + 1;
    size_t kind = (size_t)(name - record);
    return join(n, dh_arena_text(&n->arena, record, kind), " ", name + 1);
}

static void compose(struct dh_namer *n, const struct target *t, struct dh_access *access, struct dh_name *name,
                    struct dh_type **type)
{
    struct dh_path path = {.text = ""};
    *name = (struct dh_name){"", "", "", "", t->flags};
    *type = NULL;
    if (t->type) {
        dh_path_find(n->di, &n->arena, t->type, offset_inside(n, t) * 8, access, &path);
        *type = path.type;
    }
    const char *dot = strchr(path.text, '.');
    name->field = dot ? dot + 1 : "";
    struct dh_type *s = dh_type_strip(n->di, t->type);
    if (t->kind == TARGET_VARIABLE)
        name->variable = name->expr = join(n, t->variable, path.text, "");
    else if (s && dh_type_is_record(s))
        compose_record(n, t, &path, name);
    else
        compose_scalar(n, t, &path, name);
    if (!*name->variable && *t->record)
        name->variable = ir_label(n, t->record);
    if (path.bitfield)
        name->flags |= DH_SITE_BITFIELD;
    if (path.element || t->wandered)
        name->flags |= DH_SITE_ELEMENT;
    if (path.artificial)
        name->flags |= DH_SITE_ARTIFICIAL;
}

/* ---- the question from outside ---- */

static enum dh_value_kind value_kind(LLVMTypeRef type)
{
    switch (type ? LLVMGetTypeKind(type) : LLVMVoidTypeKind) {
    case LLVMIntegerTypeKind:
        return DH_VALUE_INTEGER;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMX86_FP80TypeKind:
    case LLVMFP128TypeKind:
        return DH_VALUE_FLOAT;
    case LLVMPointerTypeKind:
        return DH_VALUE_POINTER;
    default:
        return DH_VALUE_ANY;
    }
}

/* Scalar type name of a TBAA access tag {base, access, offset}. */
static const char *tbaa_scalar(struct dh_namer *n, LLVMValueRef instruction)
{
    LLVMValueRef tag = LLVMGetMetadata(instruction, n->tbaa_kind), ops[8], access[16];
    unsigned len;
    if (!tag || LLVMGetMDNodeNumOperands(tag) < 3 || LLVMGetMDNodeNumOperands(tag) > 8)
        return "";
    LLVMGetMDNodeOperands(tag, ops);
    if (!ops[1] || !LLVMIsAMDNode(ops[1]) || LLVMGetMDNodeNumOperands(ops[1]) > 16 || !LLVMGetMDNodeNumOperands(ops[1]))
        return "";
    LLVMGetMDNodeOperands(ops[1], access);
    const char *name = access[0] ? LLVMGetMDString(access[0], &len) : NULL;
    return name ? dh_arena_text(&n->arena, name, len) : "";
}

static const char *ir_type_text(LLVMTypeRef type)
{
    switch (type ? LLVMGetTypeKind(type) : LLVMVoidTypeKind) {
    case LLVMPointerTypeKind:
        return "void *";
    case LLVMFloatTypeKind:
        return "float";
    case LLVMDoubleTypeKind:
        return "double";
    default:
        return "";
    }
}

void dh_namer_find(struct dh_namer *n, const struct dh_address *a, struct dh_name *name)
{
    struct target t;
    struct dh_type *type;
    struct use use = {"", a->bytes * 8, dh_md_node(LLVMGetMetadata(a->instruction, n->via_kind)), a->order};
    find_target(n, a->pointer, &use, 0, &t);
    struct dh_access access = {.bits = a->bytes * 8,
                               .instruction = a->type ? a->instruction : NULL,
                               .tbaa = a->type ? tbaa_scalar(n, a->instruction) : "",
                               .ir_record = t.record,
                               .steps = t.steps,
                               .kind = value_kind(a->type),
                               .whole = !a->type || value_kind(a->type) == DH_VALUE_ANY};
    compose(n, &t, &access, name, &type);
    name->type = type ? dh_type_spell(n->di, type, n->cxx) : ir_type_text(a->type);
    if (a->type && value_kind(a->type) == DH_VALUE_POINTER)
        name->flags |= DH_SITE_POINTER;
    if (a->type && strstr(access.tbaa, "vtable pointer"))
        name->flags |= DH_SITE_ARTIFICIAL;
}
