/* Debug types: reading them, their C and C++ spelling, and lookup by the struct names of LLVM IR. */
#include "ir/debug_info_internal.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_type_kind(LLVMMetadataKind kind)
{
    return kind >= LLVMDIBasicTypeMetadataKind && kind <= LLVMDISubroutineTypeMetadataKind;
}

struct dh_type *dh_di_type(struct dh_di *di, LLVMMetadataRef node)
{
    if (!node)
        return NULL;
    struct dh_type *t = dh_ptr_map_find(&di->types, node);
    if (t)
        return t;
    LLVMMetadataKind kind = LLVMGetMetadataKind(node);
    if (!is_type_kind(kind))
        return NULL;
    LLVMMetadataRef ops[MAX_OPERANDS];
    dh_md_operands(di, node, ops);
    t = dh_arena_take(&di->arena, sizeof *t);
    *dh_ptr_map_at(&di->types, node) = t;
    size_t n;
    const char *name = LLVMDITypeGetName(node, &n);
    t->node = node;
    t->name = n ? dh_arena_text(&di->arena, name, n) : "";
    t->tag = LLVMGetDINodeTag(node);
    t->flags = (unsigned)LLVMDITypeGetFlags(node);
    t->size = LLVMDITypeGetSizeInBits(node);
    t->offset = LLVMDITypeGetOffsetInBits(node);
    t->scope_node = ops[OP_SCOPE];
    if (kind != LLVMDIBasicTypeMetadataKind)
        t->base_node = ops[OP_TYPE_BASE];
    if (kind == LLVMDICompositeTypeMetadataKind) {
        t->elements_node = ops[OP_TYPE_ELEMENTS];
        t->identifier_node = ops[OP_TYPE_IDENTIFIER];
    }
    return t;
}

struct dh_type *dh_type_base(struct dh_di *di, struct dh_type *t)
{
    if (!t->has_base) {
        t->has_base = true;
        t->base = t->tag == DH_TAG_SUBROUTINE ? NULL : dh_di_type(di, t->base_node);
    }
    return t->base;
}

static bool is_data_member(const struct dh_type *t)
{
    return t && (t->tag == DH_TAG_INHERITANCE || (t->tag == DH_TAG_MEMBER && !(t->flags & LLVMDIFlagStaticMember)));
}

struct dh_type *const *dh_type_elements(struct dh_di *di, struct dh_type *t, uint32_t *n)
{
    if (!t->has_elements) {
        unsigned all;
        LLVMMetadataRef *nodes = dh_md_all_operands(di, t->elements_node, &all);
        t->has_elements = true;
        t->elements = dh_arena_take(&di->arena, (all + 1) * sizeof *t->elements);
        for (unsigned i = 0; i < all; i++) {
            struct dh_type *e = dh_di_type(di, nodes[i]);
            if (is_data_member(e))
                t->elements[t->n_elements++] = e;
        }
    }
    *n = t->n_elements;
    return t->elements;
}

bool dh_type_is_record(const struct dh_type *t)
{
    return t && (t->tag == DH_TAG_STRUCT || t->tag == DH_TAG_CLASS || t->tag == DH_TAG_UNION);
}

static bool is_transparent(const struct dh_type *t)
{
    switch (t->tag) {
    case DH_TAG_TYPEDEF:
    case DH_TAG_TEMPLATE_ALIAS:
    case DH_TAG_CONST:
    case DH_TAG_VOLATILE:
    case DH_TAG_RESTRICT:
    case DH_TAG_ATOMIC:
    case DH_TAG_MEMBER:
    case DH_TAG_INHERITANCE:
        return true;
    default:
        return false;
    }
}

/* ---- records by name ---- */

struct record_bucket {
    struct record_bucket *next;
    const char *name; /* last component, without template arguments */
    struct dh_type *type;
};

enum { RECORD_BUCKETS = 8192 };

/* "class.ns::Box<int>::Node.12" and "ns::Box<int>::Node" -> "Node"; arguments are cut as well. */
static const char *last_component(const char *name, size_t *n)
{
    size_t start = 0, depth = 0, at = 0;
    for (; name[at]; at++) {
        if (name[at] == '<')
            depth++;
        else if (name[at] == '>' && depth)
            depth--;
        else if (!depth && name[at] == ':' && name[at + 1] == ':')
            start = at + 2;
    }
    *n = strcspn(name + start, "<");
    return name + start;
}

static const char *ir_component(const char *ir_name, size_t *n)
{
    static const char *const kinds[] = {"struct.", "class.", "union."};
    for (size_t i = 0; i < 3; i++)
        if (dh_starts_with(ir_name, kinds[i])) {
            const char *name = last_component(ir_name + strlen(kinds[i]), n);
            const char *dot = memchr(name, '.', *n);
            if (dot)
                *n = (size_t)(dot - name);
            return name;
        }
    *n = 0;
    return ir_name;
}

static unsigned bucket_of(const char *name, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)name[i]) * 16777619u;
    return h % RECORD_BUCKETS;
}

static void add_record(struct dh_di *di, struct dh_type *t, const char *name)
{
    size_t n;
    name = last_component(name, &n);
    struct record_bucket **head = &di->records[bucket_of(name, n)];
    struct record_bucket *b = dh_arena_take(&di->arena, sizeof *b);
    b->name = dh_arena_text(&di->arena, name, n);
    b->type = t;
    while (*head)
        head = &(*head)->next;
    *head = b;
}

typedef DH_VEC(LLVMMetadataRef) node_list;

static void walk_later(struct dh_di *di, node_list *todo, LLVMMetadataRef node)
{
    if (!node)
        return;
    void **seen = dh_ptr_map_at(&di->walked, node);
    if (*seen)
        return;
    *seen = di;
    dh_vec_push(todo, node);
}

static void walk_list(struct dh_di *di, node_list *todo, LLVMMetadataRef list)
{
    unsigned n;
    LLVMMetadataRef *nodes = dh_md_all_operands(di, list, &n);
    for (unsigned i = 0; i < n; i++)
        walk_later(di, todo, nodes[i]);
}

static void note_record(struct dh_di *di, struct dh_type *t)
{
    if (dh_type_is_record(t) && *t->name && !(t->flags & LLVMDIFlagFwdDecl))
        add_record(di, t, t->name);
    if (t->tag == DH_TAG_TYPEDEF) {
        struct dh_type *base = dh_type_base(di, t);
        if (dh_type_is_record(base) && !*base->name)
            add_record(di, t, t->name);
    }
}

static void walk_node(struct dh_di *di, node_list *todo, LLVMMetadataRef node)
{
    LLVMMetadataRef ops[MAX_OPERANDS];
    LLVMMetadataKind kind = LLVMGetMetadataKind(node);
    if (is_type_kind(kind)) {
        struct dh_type *t = dh_di_type(di, node);
        note_record(di, t);
        if (kind == LLVMDISubroutineTypeMetadataKind)
            walk_list(di, todo, t->base_node);
        else
            walk_later(di, todo, t->base_node);
        if (dh_type_is_record(t) || t->tag == DH_TAG_ARRAY)
            walk_list(di, todo, t->elements_node);
        return;
    }
    dh_md_operands(di, node, ops);
    if (kind == LLVMDISubprogramMetadataKind) {
        walk_later(di, todo, ops[OP_SUBPROGRAM_TYPE]);
        walk_list(di, todo, ops[OP_SUBPROGRAM_RETAINED]);
        if (ops[OP_SCOPE] && LLVMGetMetadataKind(ops[OP_SCOPE]) == LLVMDICompositeTypeMetadataKind)
            walk_later(di, todo, ops[OP_SCOPE]);
    } else if (kind == LLVMDIGlobalVariableExpressionMetadataKind) {
        walk_later(di, todo, ops[0]);
    } else if (kind == LLVMDIGlobalVariableMetadataKind || kind == LLVMDILocalVariableMetadataKind) {
        walk_later(di, todo, ops[OP_VARIABLE_TYPE]);
    } else if (kind == LLVMDICompileUnitMetadataKind) {
        walk_list(di, todo, ops[OP_UNIT_RETAINED]);
        walk_list(di, todo, ops[OP_UNIT_GLOBALS]);
    }
}

static void walk_function(struct dh_di *di, node_list *todo, LLVMValueRef f)
{
    walk_later(di, todo, LLVMGetSubprogram(f));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsADbgVariableIntrinsic(i))
                continue;
            walk_later(di, todo, dh_md_node(LLVMGetOperand(i, 1)));
        }
}

static void build_records(struct dh_di *di)
{
    node_list todo = {0};
    di->has_records = true;
    di->records = dh_xcalloc(RECORD_BUCKETS, sizeof *di->records);
    unsigned n = LLVMGetNamedMetadataNumOperands(di->module, "llvm.dbg.cu");
    LLVMValueRef *units = dh_arena_take(&di->arena, (n + 1) * sizeof *units);
    LLVMGetNamedMetadataOperands(di->module, "llvm.dbg.cu", units);
    for (unsigned i = 0; i < n; i++)
        walk_later(di, &todo, dh_md_node(units[i]));
    for (LLVMValueRef f = LLVMGetFirstFunction(di->module); f; f = LLVMGetNextFunction(f))
        walk_function(di, &todo, f);
    while (todo.n)
        walk_node(di, &todo, todo.at[--todo.n]);
    dh_vec_release(&todo);
    dh_ptr_map_release(&di->walked);
}

void dh_di_free_records(struct dh_di *di)
{
    free(di->records);
}

static struct record_bucket *records_called(struct dh_di *di, const char *name, size_t n)
{
    if (!di->has_records)
        build_records(di);
    return di->records[bucket_of(name, n)];
}

static struct dh_type *definition_of(struct dh_di *di, struct dh_type *t)
{
    size_t n;
    const char *name = last_component(t->name, &n);
    struct dh_type *same_name = NULL;
    if (!n)
        return NULL;
    for (struct record_bucket *b = records_called(di, name, n); b; b = b->next) {
        if (t->identifier_node && b->type->identifier_node == t->identifier_node)
            return b->type;
        if (!same_name && b->type->tag == t->tag && !strcmp(b->type->name, t->name))
            same_name = b->type;
    }
    return t->identifier_node ? NULL : same_name;
}

struct dh_type *dh_di_record_named(struct dh_di *di, const char *ir_name, uint64_t bits)
{
    size_t n;
    const char *name = ir_component(ir_name, &n);
    struct dh_type *best = NULL;
    if (!n || (n == 4 && !memcmp(name, "anon", 4)))
        return NULL;
    for (struct record_bucket *b = records_called(di, name, n); b; b = b->next) {
        if (strlen(b->name) != n || memcmp(b->name, name, n))
            continue;
        if (dh_type_bits(di, b->type) == bits)
            return b->type;
        if (!best)
            best = b->type;
    }
    /* Base subobjects have other sizes than their class; a template's size tells its instances apart. */
    return best && !strchr(best->name, '<') ? best : NULL;
}

bool dh_type_has_ir_name(struct dh_di *di, struct dh_type *t, const char *ir_name)
{
    size_t n, m;
    const char *name = ir_component(ir_name, &n);
    for (int depth = 0; t && depth < 16; depth++) {
        const char *own = last_component(t->name, &m);
        if (m == n && !memcmp(own, name, n))
            return true;
        if (dh_type_is_record(t))
            return !*t->name && n == 4 && !memcmp(name, "anon", 4);
        if (!is_transparent(t))
            return false;
        t = dh_type_base(di, t);
    }
    return false;
}

/* ---- shape ---- */

struct dh_type *dh_type_strip(struct dh_di *di, struct dh_type *t)
{
    for (int depth = 0; t && depth < 64 && is_transparent(t); depth++)
        t = dh_type_base(di, t);
    if (t && dh_type_is_record(t) && (t->flags & LLVMDIFlagFwdDecl)) {
        if (!t->has_complete) {
            t->has_complete = true;
            t->complete = definition_of(di, t);
        }
        if (t->complete)
            return t->complete;
    }
    return t;
}

struct dh_type *dh_type_pointee(struct dh_di *di, struct dh_type *t, bool *reference)
{
    t = dh_type_strip(di, t);
    if (!t || (t->tag != DH_TAG_POINTER && t->tag != DH_TAG_REFERENCE && t->tag != DH_TAG_RVALUE_REFERENCE))
        return NULL;
    *reference = t->tag != DH_TAG_POINTER;
    return dh_type_base(di, t);
}

uint64_t dh_type_bits(struct dh_di *di, struct dh_type *t)
{
    for (int depth = 0; t && depth < 64; depth++) {
        if (t->size && t->tag != DH_TAG_MEMBER)
            return t->size;
        if (dh_type_is_record(t)) {
            t = dh_type_strip(di, t);
            return t->size;
        }
        if (!is_transparent(t))
            return 0;
        t = dh_type_base(di, t);
    }
    return 0;
}

struct dh_type *dh_type_element(struct dh_di *di, struct dh_type *t, unsigned *dimensions)
{
    unsigned n = 0;
    dh_md_all_operands(di, t->elements_node, &n);
    *dimensions = n ? n : 1;
    return dh_type_base(di, t);
}

/* ---- spelling ---- */

static const char *spell_record(struct dh_di *di, struct dh_type *t, bool cxx)
{
    const char *kind = t->tag == DH_TAG_UNION ? "union " : t->tag == DH_TAG_ENUM ? "enum " : "struct ";
    if (!*t->name)
        return t->tag == DH_TAG_CLASS ? "(lambda)" : dh_arena_join(&di->arena, kind, "(anonymous)", NULL);
    if (!cxx)
        return dh_arena_join(&di->arena, kind, t->name, NULL);
    return dh_arena_join(&di->arena, dh_di_qualifier(di, t->scope_node, false), t->name, NULL);
}

static const char *spell_subroutine(struct dh_di *di, struct dh_type *t, bool cxx, const char *middle)
{
    unsigned n;
    LLVMMetadataRef *types = dh_md_all_operands(di, t->base_node, &n);
    const char *arguments = "";
    for (unsigned i = 1; i < n; i++) {
        const char *one = types[i] ? dh_type_spell(di, dh_di_type(di, types[i]), cxx) : "...";
        arguments = dh_arena_join(&di->arena, arguments, i > 1 ? ", " : "", one, NULL);
    }
    const char *result = n && types[0] ? dh_type_spell(di, dh_di_type(di, types[0]), cxx) : "void";
    return dh_arena_join(&di->arena, result, " ", middle, "(", *arguments || cxx ? arguments : "void", ")", NULL);
}

static const char *spell_array(struct dh_di *di, struct dh_type *t, bool cxx)
{
    unsigned n;
    LLVMMetadataRef *ranges = dh_md_all_operands(di, t->elements_node, &n), ops[MAX_OPERANDS];
    const char *text = dh_type_spell(di, dh_type_base(di, t), cxx);
    if (t->flags & LLVMDIFlagVector)
        return dh_arena_join(&di->arena, text, " vector", NULL);
    for (unsigned i = 0; i < n; i++) {
        dh_md_operands(di, ranges[i], ops);
        long long count = -1;
        if (ops[0] && LLVMGetMetadataKind(ops[0]) == LLVMConstantAsMetadataMetadataKind) {
            LLVMValueRef value = dh_md_value(LLVMMetadataAsValue(di->context, ops[0]));
            count = value && LLVMIsAConstantInt(value) ? LLVMConstIntGetSExtValue(value) : -1;
        }
        text = count >= 0 ? dh_arena_format(&di->arena, "%s[%lld]", text, count)
                          : dh_arena_join(&di->arena, text, "[]", NULL);
    }
    return text;
}

static const char *spell_pointer(struct dh_di *di, struct dh_type *t, bool cxx)
{
    const char *sign = t->tag == DH_TAG_POINTER ? "*" : t->tag == DH_TAG_REFERENCE ? "&" : "&&";
    struct dh_type *to = dh_type_base(di, t);
    if (to && to->tag == DH_TAG_SUBROUTINE)
        return spell_subroutine(di, to, cxx, dh_arena_join(&di->arena, "(", sign, ")", NULL));
    const char *text = dh_type_spell(di, to, cxx);
    size_t n = strlen(text);
    bool tight = n && (text[n - 1] == '*' || text[n - 1] == '&');
    return dh_arena_join(&di->arena, text, tight ? "" : " ", sign, NULL);
}

static const char *spell_qualified(struct dh_di *di, struct dh_type *t, bool cxx)
{
    const char *word = t->tag == DH_TAG_CONST ? "const" : t->tag == DH_TAG_VOLATILE ? "volatile" : "restrict";
    struct dh_type *base = dh_type_base(di, t);
    const char *text = dh_type_spell(di, base, cxx);
    bool after = base && (base->tag == DH_TAG_POINTER || t->tag == DH_TAG_RESTRICT);
    return after ? dh_arena_join(&di->arena, text, word, NULL) : dh_arena_join(&di->arena, word, " ", text, NULL);
}

static const char *spell_fresh(struct dh_di *di, struct dh_type *t, bool cxx)
{
    switch (t->tag) {
    case DH_TAG_STRUCT:
    case DH_TAG_CLASS:
    case DH_TAG_UNION:
    case DH_TAG_ENUM:
        return spell_record(di, t, cxx);
    case DH_TAG_POINTER:
    case DH_TAG_REFERENCE:
    case DH_TAG_RVALUE_REFERENCE:
        return spell_pointer(di, t, cxx);
    case DH_TAG_CONST:
    case DH_TAG_VOLATILE:
    case DH_TAG_RESTRICT:
        return spell_qualified(di, t, cxx);
    case DH_TAG_ATOMIC:
        return dh_arena_join(&di->arena, "_Atomic(", dh_type_spell(di, dh_type_base(di, t), cxx), ")", NULL);
    case DH_TAG_ARRAY:
        return spell_array(di, t, cxx);
    case DH_TAG_SUBROUTINE:
        return spell_subroutine(di, t, cxx, "");
    case DH_TAG_MEMBER:
    case DH_TAG_INHERITANCE:
        return dh_type_spell(di, dh_type_base(di, t), cxx);
    case DH_TAG_MEMBER_POINTER:
        return dh_arena_join(&di->arena, dh_type_spell(di, dh_type_base(di, t), cxx), " ::*", NULL);
    case DH_TAG_TYPEDEF:
    case DH_TAG_TEMPLATE_ALIAS:
        if (cxx && t->scope_node)
            return dh_arena_join(&di->arena, dh_di_qualifier(di, t->scope_node, false), t->name, NULL);
        return t->name;
    default:
        return t->name;
    }
}

const char *dh_type_spell(struct dh_di *di, struct dh_type *t, bool cxx)
{
    if (!t)
        return "void";
    if (!t->spelled[cxx]) {
        t->spelled[cxx] = "..."; /* a type may contain itself through its arguments */
        t->spelled[cxx] = spell_fresh(di, t, cxx);
    }
    return t->spelled[cxx];
}

const char *dh_type_label(struct dh_di *di, struct dh_type *t, bool cxx)
{
    const char *alias = "";
    for (int depth = 0; t && depth < 64 && is_transparent(t); depth++) {
        if (t->tag == DH_TAG_TYPEDEF || t->tag == DH_TAG_TEMPLATE_ALIAS)
            alias = dh_type_spell(di, t, cxx);
        t = dh_type_base(di, t);
    }
    if (!dh_type_is_record(t))
        return "";
    return *t->name ? dh_type_spell(di, t, cxx) : alias;
}
