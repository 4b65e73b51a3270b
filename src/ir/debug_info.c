/* Debug nodes, variables, scopes and expressions. */
#include "ir/debug_info_internal.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct dh_di *dh_di_new(LLVMModuleRef m)
{
    struct dh_di *di = dh_xcalloc(1, sizeof *di);
    di->module = m;
    di->context = LLVMGetModuleContext(m);
    di->dbg_kind = LLVMGetMDKindIDInContext(di->context, "dbg", 3);
    return di;
}

void dh_di_free(struct dh_di *di)
{
    if (!di)
        return;
    struct dh_ptr_map *maps[] = {&di->types,       &di->variables, &di->globals,   &di->scopes,
                                 &di->expressions, &di->units,     &di->functions, &di->walked};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        dh_ptr_map_release(maps[i]);
    dh_di_free_records(di);
    dh_arena_release(&di->arena);
    free(di);
}

LLVMMetadataRef dh_md_node(LLVMValueRef value)
{
    if (!value || LLVMGetValueKind(value) != LLVMMetadataAsValueValueKind)
        return NULL;
    return LLVMValueAsMetadata(value);
}

LLVMValueRef dh_md_value(LLVMValueRef value)
{
    LLVMMetadataRef node = dh_md_node(value);
    LLVMMetadataKind kind = node ? LLVMGetMetadataKind(node) : LLVMMDTupleMetadataKind;
    if (kind != LLVMConstantAsMetadataMetadataKind && kind != LLVMLocalAsMetadataMetadataKind)
        return NULL;
    LLVMValueRef inside = NULL;
    LLVMGetMDNodeOperands(value, &inside);
    return inside;
}

/* LLVMGetMDNodeOperands answers constants themselves, everything else wrapped. */
static void unwrap(LLVMValueRef *values, LLVMMetadataRef *ops, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        ops[i] = values[i] ? LLVMValueAsMetadata(values[i]) : NULL;
}

static bool has_operands(LLVMMetadataRef node)
{
    LLVMMetadataKind kind = node ? LLVMGetMetadataKind(node) : LLVMMDStringMetadataKind;
    return kind == LLVMMDTupleMetadataKind || (kind > LLVMMDTupleMetadataKind && kind != LLVMDIArgListMetadataKind);
}

unsigned dh_md_operands(struct dh_di *di, LLVMMetadataRef node, LLVMMetadataRef ops[MAX_OPERANDS])
{
    LLVMValueRef values[MAX_OPERANDS];
    memset(ops, 0, MAX_OPERANDS * sizeof *ops);
    if (!has_operands(node))
        return 0;
    LLVMValueRef wrapped = LLVMMetadataAsValue(di->context, node);
    unsigned n = LLVMGetMDNodeNumOperands(wrapped);
    if (n > MAX_OPERANDS)
        return 0;
    LLVMGetMDNodeOperands(wrapped, values);
    unwrap(values, ops, n);
    return n;
}

LLVMMetadataRef *dh_md_all_operands(struct dh_di *di, LLVMMetadataRef node, unsigned *n)
{
    *n = 0;
    if (!has_operands(node))
        return NULL;
    LLVMValueRef wrapped = LLVMMetadataAsValue(di->context, node);
    *n = LLVMGetMDNodeNumOperands(wrapped);
    if (!*n)
        return NULL;
    LLVMMetadataRef *ops = dh_arena_take(&di->arena, *n * sizeof *ops);
    /* A value reference and a metadata reference are of one size: read in place. */
    LLVMValueRef *values = (LLVMValueRef *)ops;
    LLVMGetMDNodeOperands(wrapped, values);
    for (unsigned i = 0; i < *n; i++)
        ops[i] = values[i] ? LLVMValueAsMetadata(values[i]) : NULL;
    return ops;
}

static const char *text_of(struct dh_di *di, LLVMMetadataRef node)
{
    if (!node || LLVMGetMetadataKind(node) != LLVMMDStringMetadataKind)
        return "";
    unsigned n;
    const char *text = LLVMGetMDString(LLVMMetadataAsValue(di->context, node), &n);
    return dh_arena_text(&di->arena, text, n);
}

/* ---- scopes ---- */

/* The language is no operand of the unit; its printed form has it. */
static bool unit_is_cxx(struct dh_di *di, LLVMMetadataRef unit)
{
    if (!unit)
        return false;
    void **known = dh_ptr_map_at(&di->units, unit);
    if (!*known) {
        char *text = LLVMPrintValueToString(LLVMMetadataAsValue(di->context, unit));
        bool cxx = strstr(text, "DW_LANG_C_plus_plus") || strstr(text, "DW_LANG_ObjC_plus_plus");
        LLVMDisposeMessage(text);
        *dh_ptr_map_at(&di->units, unit) = (void *)(uintptr_t)(cxx ? 2 : 1);
        return cxx;
    }
    return (uintptr_t)*known == 2;
}

static const char *record_name(struct dh_di *di, LLVMMetadataRef node)
{
    size_t n;
    const char *name = LLVMDITypeGetName(node, &n);
    if (!name || !n)
        return LLVMGetDINodeTag(node) == DH_TAG_CLASS ? "(lambda)" : "(anonymous)";
    return dh_arena_text(&di->arena, name, n);
}

const char *dh_di_qualifier(struct dh_di *di, LLVMMetadataRef scope, bool functions)
{
    LLVMMetadataRef ops[MAX_OPERANDS];
    const char *text = "";
    for (int depth = 0; scope && depth < 32; depth++) {
        LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
        const char *name = "";
        if (kind == LLVMDICompositeTypeMetadataKind)
            name = record_name(di, scope);
        dh_md_operands(di, scope, ops);
        if (kind == LLVMDINamespaceMetadataKind || (kind == LLVMDISubprogramMetadataKind && functions))
            name = text_of(di, ops[OP_NAME]);
        else if (kind == LLVMDIFileMetadataKind || kind == LLVMDICompileUnitMetadataKind)
            break;
        if (*name)
            text = dh_arena_join(&di->arena, name, "::", text, NULL);
        scope = ops[OP_SCOPE];
    }
    return text;
}

static const char *file_of(struct dh_di *di, LLVMMetadataRef scope)
{
    LLVMMetadataRef file = LLVMDIScopeGetFile(scope);
    unsigned n = 0;
    const char *name = file ? LLVMDIFileGetFilename(file, &n) : "";
    return dh_arena_text(&di->arena, name, n);
}

static const struct dh_scope *read_subprogram(struct dh_di *di, LLVMMetadataRef node)
{
    LLVMMetadataRef ops[MAX_OPERANDS];
    dh_md_operands(di, node, ops);
    struct dh_scope *s = dh_arena_take(&di->arena, sizeof *s);
    s->file = file_of(di, node);
    s->subprogram = node;
    s->cxx = unit_is_cxx(di, ops[OP_SUBPROGRAM_UNIT]);
    const char *name = text_of(di, ops[OP_NAME]);
    /* Constructors of globals and other functions the compiler made have a linkage name only. */
    if (!*name)
        name = text_of(di, ops[OP_SUBPROGRAM_LINKAGE]);
    const char *outer = s->cxx ? dh_di_qualifier(di, ops[OP_SCOPE], true) : "";
    s->function = dh_arena_join(&di->arena, outer, name, NULL);
    return s;
}

const struct dh_scope *dh_di_scope(struct dh_di *di, LLVMMetadataRef scope)
{
    static const struct dh_scope none = {"", "", NULL, false};
    LLVMMetadataRef ops[MAX_OPERANDS];
    if (!scope)
        return &none;
    const struct dh_scope *known = dh_ptr_map_find(&di->scopes, scope);
    if (known)
        return known;
    LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
    if (kind == LLVMDISubprogramMetadataKind) {
        known = read_subprogram(di, scope);
    } else if (kind == LLVMDILexicalBlockMetadataKind || kind == LLVMDILexicalBlockFileMetadataKind) {
        dh_md_operands(di, scope, ops);
        struct dh_scope *s = dh_arena_take(&di->arena, sizeof *s);
        *s = *dh_di_scope(di, ops[OP_SCOPE]);
        s->file = file_of(di, scope);
        known = s;
    } else {
        known = &none;
    }
    *dh_ptr_map_at(&di->scopes, scope) = (void *)known;
    return known;
}

struct function_row {
    const char *name;
    struct dh_type *result;
    bool described;
};

bool dh_di_function(struct dh_di *di, LLVMValueRef function, const char **name, struct dh_type **result)
{
    struct function_row *row = dh_ptr_map_find(&di->functions, function);
    if (!row) {
        LLVMMetadataRef ops[MAX_OPERANDS], types[MAX_OPERANDS];
        LLVMMetadataRef node = LLVMGetSubprogram(function);
        row = dh_arena_take(&di->arena, sizeof *row);
        *dh_ptr_map_at(&di->functions, function) = row;
        if (node) {
            row->described = true;
            dh_md_operands(di, node, ops);
            row->name = text_of(di, ops[OP_NAME]);
            dh_md_operands(di, ops[OP_SUBPROGRAM_TYPE], types);
            unsigned n;
            LLVMMetadataRef *list = dh_md_all_operands(di, types[OP_SUBROUTINE_TYPES], &n);
            row->result = n ? dh_di_type(di, list[0]) : NULL;
        }
    }
    *name = row->name;
    *result = row->result;
    return row->described;
}

/* ---- variables ---- */

const struct dh_variable *dh_di_variable(struct dh_di *di, LLVMMetadataRef node)
{
    if (!node)
        return NULL;
    struct dh_variable *v = dh_ptr_map_find(&di->variables, node);
    if (v)
        return v;
    LLVMMetadataRef ops[MAX_OPERANDS];
    dh_md_operands(di, node, ops);
    v = dh_arena_take(&di->arena, sizeof *v);
    v->name = text_of(di, ops[OP_VARIABLE_NAME]);
    v->type = dh_di_type(di, ops[OP_VARIABLE_TYPE]);
    v->artificial = !*v->name;
    if (LLVMGetMetadataKind(node) == LLVMDIGlobalVariableMetadataKind) {
        LLVMMetadataRef scope = ops[OP_VARIABLE_SCOPE], member[MAX_OPERANDS];
        if (ops[OP_GLOBAL_DECLARATION]) {
            dh_md_operands(di, ops[OP_GLOBAL_DECLARATION], member);
            scope = member[OP_SCOPE];
        }
        LLVMMetadataKind kind = scope ? LLVMGetMetadataKind(scope) : LLVMDIFileMetadataKind;
        if (kind == LLVMDINamespaceMetadataKind || kind == LLVMDICompositeTypeMetadataKind)
            v->name = dh_arena_join(&di->arena, dh_di_qualifier(di, scope, false), v->name, NULL);
    }
    *dh_ptr_map_at(&di->variables, node) = v;
    return v;
}

static const struct dh_variable *described_by(struct dh_di *di, LLVMMetadataRef pair)
{
    const struct dh_variable *whole = dh_di_variable(di, LLVMDIGlobalVariableExpressionGetVariable(pair));
    LLVMMetadataRef node = LLVMDIGlobalVariableExpressionGetExpression(pair);
    const struct dh_expression *e = node ? dh_di_expression(di, node) : NULL;
    if (!whole || !e || !e->fragment)
        return whole;
    struct dh_variable *part = dh_arena_take(&di->arena, sizeof *part);
    *part = *whole;
    part->part = e->fragment;
    return part;
}

const struct dh_variable *dh_di_global(struct dh_di *di, LLVMValueRef global)
{
    static const struct dh_variable undescribed;
    const struct dh_variable *known = dh_ptr_map_find(&di->globals, global);
    if (!known) {
        size_t n = 0;
        LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &n);
        for (unsigned i = 0; i < n && !known; i++)
            if (LLVMValueMetadataEntriesGetKind(entries, i) == di->dbg_kind)
                known = described_by(di, LLVMValueMetadataEntriesGetMetadata(entries, i));
        LLVMDisposeValueMetadataEntries(entries);
        if (!known)
            known = &undescribed;
        *dh_ptr_map_at(&di->globals, global) = (void *)known;
    }
    return known == &undescribed ? NULL : known;
}

/* ---- expressions ---- */

static bool take_word(const char **at, char *word, size_t room)
{
    size_t n = 0;
    while (**at == ' ' || **at == ',')
        ++*at;
    while (**at && **at != ',' && **at != ')' && **at != ' ' && n + 1 < room)
        word[n++] = *(*at)++;
    word[n] = '\0';
    return n > 0;
}

static uint64_t take_number(const char **at)
{
    char word[64];
    return take_word(at, word, sizeof word) ? strtoull(word, NULL, 0) : 0;
}

/* Anything but offsets, one dereference and a fragment means that the value is no longer the variable's. */
static void parse_expression(struct dh_expression *e, const char *at)
{
    char op[64];
    uint64_t constant = 0;
    e->understood = true;
    while (e->understood && take_word(&at, op, sizeof op)) {
        if (!strcmp(op, "DW_OP_deref")) {
            e->understood = !e->deref;
            e->deref = true;
        } else if (!strcmp(op, "DW_OP_plus_uconst")) {
            e->add += (int64_t)take_number(&at);
            e->understood = !e->deref;
        } else if (!strcmp(op, "DW_OP_constu")) {
            constant = take_number(&at);
        } else if (!strcmp(op, "DW_OP_plus") || !strcmp(op, "DW_OP_minus")) {
            e->add += op[6] == 'p' ? (int64_t)constant : -(int64_t)constant;
            e->understood = !e->deref;
        } else if (!strcmp(op, "DW_OP_LLVM_fragment")) {
            e->fragment = take_number(&at);
            e->fragment_size = take_number(&at);
        } else {
            e->understood = !strcmp(op, "DW_OP_stack_value");
        }
    }
}

const struct dh_expression *dh_di_expression(struct dh_di *di, LLVMMetadataRef node)
{
    struct dh_expression *e = dh_ptr_map_find(&di->expressions, node);
    if (e)
        return e;
    e = dh_arena_take(&di->arena, sizeof *e);
    *dh_ptr_map_at(&di->expressions, node) = e;
    if (!node || LLVMGetMetadataKind(node) != LLVMDIExpressionMetadataKind)
        return e;
    /* LLVM-C cannot read the elements of an expression; its printed form is short and stable. */
    char *text = LLVMPrintValueToString(LLVMMetadataAsValue(di->context, node));
    const char *open = strchr(text, '(');
    if (open)
        parse_expression(e, open + 1);
    LLVMDisposeMessage(text);
    return e;
}
