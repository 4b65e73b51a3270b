/* Composes the names of accesses from target and path; the exported queries. */
#include "ir/access_names_internal.h"

#include "base/alloc.h"
#include "base/str.h"
#include "event/site.h"
#include "model/mangled_names.h"

#include <stdlib.h>
#include <string.h>

struct dh_namer *dh_namer_new(LLVMModuleRef m, struct dh_di *di)
{
    struct dh_namer *n = dh_xcalloc(1, sizeof *n);
    LLVMContextRef context = LLVMGetModuleContext(m);
    n->module = m;
    n->di = di;
    n->sources = dh_source_texts_new();
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
    dh_source_texts_free(n->sources);
    dh_bindings_release(&n->bindings);
    dh_ptr_map_release(&n->spellings);
    dh_arena_release(&n->arena);
    free(n);
}

void dh_namer_enter(struct dh_namer *n, LLVMValueRef function)
{
    n->function = function;
    n->cxx = dh_di_scope(n->di, LLVMGetSubprogram(function))->cxx;
    dh_ptr_map_clear(&n->spellings);
    dh_arena_clear(&n->arena);
    dh_bindings_read(&n->bindings, n->di, function);
}

/* ---- text ---- */

const char *dh_namer_join(struct dh_namer *n, const char *a, const char *b, const char *c)
{
    return dh_arena_join(&n->arena, a, b, c, NULL);
}

/* Something that binds tighter follows: "*p" becomes "(*p)". */
const char *dh_namer_primary(struct dh_namer *n, const char *text)
{
    return *text == '*' ? dh_namer_join(n, "(", text, ")") : text;
}

static const char *without_dot(const char *path)
{
    return *path == '.' ? path + 1 : path;
}

/* ---- composing ---- */

static const char *label_of(struct dh_namer *n, struct dh_type *t)
{
    const char *label = dh_type_label(n->di, t, n->cxx);
    /* The library's base class of std::atomic is an accident of its implementation. */
    if (dh_starts_with(label, "std::__atomic_base<"))
        return dh_namer_join(n, "std::atomic<", label + strlen("std::__atomic_base<"), "");
    if (!strcmp(label, "std::__atomic_flag_base"))
        return "std::atomic_flag";
    return label;
}

static bool is_lambda(const struct dh_type *t)
{
    return t->tag == DH_TAG_CLASS && !*t->name;
}

static void compose_record(struct dh_namer *n, const struct target *t, const struct dh_member_path *path,
                           struct dh_access_name *name)
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
    const char *reached = t->wandered ? dh_namer_join(n, dh_namer_primary(n, t->expr), "[]", "") : t->expr;
    if (!*path->text)
        name->expr = t->wandered || t->reference || !*t->expr ? reached : dh_namer_join(n, "*", t->expr, "");
    else if (*t->expr)
        name->expr = dh_namer_join(n, dh_namer_primary(n, reached), t->wandered || t->reference ? "." : "->", member);
    if (*label)
        name->variable = dh_namer_join(n, label, path->text, "");
    else
        name->variable = *name->expr ? name->expr : member;
}

static void compose_scalar(struct dh_namer *n, const struct target *t, const struct dh_member_path *path,
                           struct dh_access_name *name)
{
    const char *const from[] = {t->variable, t->expr, t->field};
    const char **to[] = {&name->variable, &name->expr, &name->field};
    for (int i = 0; i < 3; i++) {
        if (!*from[i])
            continue;
        if (t->reference)
            *to[i] = dh_namer_join(n, from[i], t->wandered ? "[]" : "", path->text);
        else if (t->wandered)
            *to[i] = dh_namer_join(n, dh_namer_primary(n, from[i]), "[]", path->text);
        else if (*path->text)
            *to[i] = dh_arena_join(&n->arena, "(*", from[i], ")", path->text, NULL);
        else
            *to[i] = dh_namer_join(n, "*", from[i], "");
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
    return dh_namer_join(n, dh_arena_text(&n->arena, record, kind), " ", name + 1);
}

void dh_name_compose(struct dh_namer *n, const struct target *t, struct dh_named_access *access,
                     struct dh_access_name *name, struct dh_type **type)
{
    struct dh_member_path path = {.text = ""};
    *name = (struct dh_access_name){"", "", "", "", t->flags};
    *type = NULL;
    if (t->type) {
        dh_member_path_find(n->di, &n->arena, t->type, dh_target_offset(n, t) * 8, access, &path);
        *type = path.type;
    }
    const char *dot = strchr(path.text, '.');
    name->field = dot ? dot + 1 : "";
    struct dh_type *s = dh_type_strip(n->di, t->type);
    if (t->kind == TARGET_VARIABLE)
        name->variable = name->expr = dh_namer_join(n, t->variable, path.text, "");
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

/* Operands of a TBAA access tag {base, access, offset}. */
static bool read_tbaa(struct dh_namer *n, LLVMValueRef instruction, LLVMValueRef ops[8])
{
    LLVMValueRef tag = LLVMGetMetadata(instruction, n->tbaa_kind);
    if (!tag || LLVMGetMDNodeNumOperands(tag) < 3 || LLVMGetMDNodeNumOperands(tag) > 8)
        return false;
    LLVMGetMDNodeOperands(tag, ops);
    return true;
}

bool dh_namer_is_member(struct dh_namer *n, LLVMValueRef instruction)
{
    LLVMValueRef ops[8];
    return read_tbaa(n, instruction, ops) && ops[0] != ops[1];
}

/* Name of the scalar type. */
const char *dh_namer_tbaa(struct dh_namer *n, LLVMValueRef instruction)
{
    LLVMValueRef ops[8], access[16];
    unsigned len;
    if (!read_tbaa(n, instruction, ops))
        return "";
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

bool dh_ir_stores_vtable(LLVMValueRef instruction)
{
    size_t len;
    if (dh_value_opcode(instruction) != LLVMStore)
        return false;
    LLVMValueRef value = LLVMGetOperand(instruction, 0);
    if (dh_value_opcode(value) == LLVMGetElementPtr)
        value = LLVMGetOperand(value, 0);
    if (!LLVMIsAGlobalVariable(value))
        return false;
    const char *name = LLVMGetValueName2(value, &len);
    return dh_mangled_is_any_vtable(name);
}

void dh_namer_find(struct dh_namer *n, const struct dh_address *a, struct dh_access_name *name)
{
    struct target t;
    struct dh_type *type;
    LLVMValueRef via =
        a->source ? NULL : LLVMGetMetadata(a->instruction, n->via_kind); /* the hint is about the destination */
    struct use use = {"", a->bytes * 8, dh_md_node(via), a->order};
    dh_target_find(n, a->pointer, &use, 0, &t);
    struct dh_named_access access = {.bits = a->bytes * 8,
                                     .instruction = a->type ? a->instruction : NULL,
                                     .tbaa = a->type ? dh_namer_tbaa(n, a->instruction) : "",
                                     .location = LLVMInstructionGetDebugLoc(a->instruction),
                                     .sources = n->sources,
                                     .ir_record = t.record,
                                     .record_bits = t.record_bits,
                                     .steps = t.steps,
                                     .kind = value_kind(a->type),
                                     .whole = !a->type || value_kind(a->type) == DH_VALUE_ANY,
                                     .synchronises = a->synchronises};
    dh_name_compose(n, &t, &access, name, &type);
    name->type = type ? dh_type_spell(n->di, type, n->cxx) : ir_type_text(a->type);
    if (a->type && value_kind(a->type) == DH_VALUE_POINTER)
        name->flags |= DH_SITE_POINTER;
    if (a->type && (strstr(access.tbaa, "vtable pointer") || dh_ir_stores_vtable(a->instruction)))
        name->flags |= DH_SITE_ARTIFICIAL;
}

void dh_namer_value(struct dh_namer *n, LLVMValueRef value, uint32_t order, struct dh_access_name *name)
{
    struct spelling s;
    struct use use = {"", 0, NULL, order};
    *name = (struct dh_access_name){"", "", "", "", 0};
    if (!dh_value_spell(n, value, &use, 0, &s))
        return;
    name->variable = s.variable;
    name->field = s.field;
    name->expr = s.expr;
    name->type = s.type ? dh_type_spell(n->di, s.type, n->cxx) : "";
}
