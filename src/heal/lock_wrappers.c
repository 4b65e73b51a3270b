#include "heal/lock_wrappers.h"

#include "base/str.h"
#include "ir/debug_info.h"
#include "ir/sites.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 16, ROUNDS = 8 };

enum origin_kind { UNKNOWN, NAMED, ARGUMENT, THROUGH };

struct origin {
    enum origin_kind kind;
    unsigned argument;
    int64_t offset;       /* of THROUGH: where the pointer is in the object */
    LLVMValueRef held_in; /* what a pointer to it was stored in */
    char *name;           /* of NAMED */
};

struct address {
    LLVMValueRef root;
    int64_t offset; /* from the root */
    char *record;   /* the innermost record of the program that it lies in, or NULL; owned */
};

/* ---- addresses ---- */

static bool is_of_library(const char *record)
{
    static const char *const known[] = {"std::", "__gnu", "pthread", "__pthread"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (dh_starts_with(record, known[i]))
            return true;
    return false;
}

/* "class.Store.12" is Store; NULL for what has no name or is not the program's. */
static char *record_name(LLVMTypeRef t)
{
    const char *name = LLVMGetTypeKind(t) == LLVMStructTypeKind ? LLVMGetStructName(t) : NULL;
    const char *dot = name ? strchr(name, '.') : NULL;
    if (!dot || dh_starts_with(dot, ".anon") || is_of_library(dot + 1))
        return NULL;
    size_t n = strlen(dot + 1), digits = n;
    while (digits && strchr("0123456789", dot[digits]))
        digits--;
    if (digits && digits < n && dot[digits] == '.')
        n = digits - 1;
    return dh_format("%.*s", (int)n, dot + 1);
}

/* The innermost record around an offset into a type, and the offset into that: a lock has one name by whatever path it
 * is reached. */
static char *record_at(const struct dh_lock_wrappers *l, LLVMTypeRef type, int64_t offset)
{
    char *found = NULL;
    for (int i = 0; i < STEPS && offset >= 0; i++) {
        LLVMTypeKind kind = LLVMGetTypeKind(type);
        if (kind == LLVMArrayTypeKind) {
            type = LLVMGetElementType(type);
            int64_t size = (int64_t)LLVMABISizeOfType(l->layout, type);
            offset = size ? offset % size : 0;
            continue;
        }
        if (kind != LLVMStructTypeKind || LLVMIsOpaqueStruct(type) || !LLVMCountStructElementTypes(type) ||
            offset >= (int64_t)LLVMABISizeOfType(l->layout, type))
            break;
        char *name = record_name(type);
        if (name) {
            free(found);
            found = dh_format("%s+%lld", name, (long long)offset);
            free(name);
        }
        unsigned at = LLVMElementAtOffset(l->layout, type, (unsigned long long)offset);
        offset -= (int64_t)LLVMOffsetOfElement(l->layout, type, at);
        type = LLVMStructGetTypeAtIndex(type, at);
    }
    return found;
}

static struct dh_type *member_at(struct dh_di *di, struct dh_type *record, uint64_t *bits)
{
    uint32_t n;
    struct dh_type *const *members = dh_type_elements(di, record, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct dh_type *m = members[i], *type = dh_type_base(di, m);
        bool field = m->tag == DH_TAG_MEMBER || m->tag == DH_TAG_INHERITANCE;
        if (!field || !type || *bits < m->offset || *bits >= m->offset + dh_type_bits(di, type))
            continue;
        *bits -= m->offset;
        return type;
    }
    return NULL;
}

/* A global that is initialised has a type of its own: the debug information knows which record it is. */
static char *described_at(const struct dh_lock_wrappers *l, LLVMValueRef global, int64_t offset)
{
    const struct dh_variable *v = dh_di_global(l->di, global);
    struct dh_type *t = v && offset >= 0 ? v->type : NULL;
    uint64_t bits = (uint64_t)offset * 8 + (v ? v->part : 0);
    char *found = NULL;
    for (int i = 0; t && i < STEPS; i++) {
        t = dh_type_strip(l->di, t);
        if (t && t->tag == DH_TAG_ARRAY) {
            t = dh_type_element(l->di, t, &(unsigned){0});
            uint64_t size = t ? dh_type_bits(l->di, t) : 0;
            bits = size ? bits % size : 0;
            continue;
        }
        if (!t || !dh_type_is_record(t))
            break;
        const char *name = dh_type_spell(l->di, t, true);
        if (*t->name && !is_of_library(name)) {
            free(found);
            found = dh_format("%s+%llu", name, (unsigned long long)bits / 8);
        }
        t = member_at(l->di, t, &bits);
    }
    return found;
}

static int64_t gep_offset(const struct dh_lock_wrappers *l, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    int64_t bytes = 0;
    for (unsigned i = 1; i <= LLVMGetNumIndices(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        int64_t at = LLVMIsAConstantInt(index) ? LLVMConstIntGetSExtValue(index) : 0;
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            bytes += (int64_t)LLVMOffsetOfElement(l->layout, type, (unsigned)at);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)at);
        } else if (i > 1) {
            type = LLVMGetElementType(type); /* one name for all elements */
        } else if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind) {
            bytes += at;
        }
    }
    return bytes;
}

static struct address address_of(const struct dh_lock_wrappers *l, LLVMValueRef v)
{
    struct address a = {v, 0, NULL};
    for (int i = 0; i < STEPS; i++) {
        bool constant = LLVMIsAConstantExpr(a.root) && LLVMGetConstOpcode(a.root) == LLVMGetElementPtr;
        if (LLVMIsAGetElementPtrInst(a.root) || constant) {
            a.offset += gep_offset(l, a.root);
            if (!a.record)
                a.record = record_at(l, LLVMGetGEPSourceElementType(a.root), a.offset);
        } else if (!LLVMIsABitCastInst(a.root)) {
            break;
        }
        a.root = LLVMGetOperand(a.root, 0);
    }
    if (!a.record && LLVMIsAGlobalVariable(a.root))
        a.record = record_at(l, LLVMGlobalGetValueType(a.root), a.offset);
    if (!a.record && LLVMIsAGlobalVariable(a.root))
        a.record = described_at(l, a.root, a.offset);
    return a;
}

/* ---- where a lock comes from ---- */

static LLVMValueRef function_of(LLVMValueRef instruction)
{
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
}

/* The only value that the function stores there. */
static LLVMValueRef stored_in(const struct dh_lock_wrappers *l, LLVMValueRef f, const struct address *where)
{
    LLVMValueRef found = NULL;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMGetInstructionOpcode(i) != LLVMStore)
                continue;
            struct address to = address_of(l, LLVMGetOperand(i, 1));
            free(to.record);
            if (to.root != where->root || to.offset != where->offset)
                continue;
            if (found)
                return NULL;
            found = LLVMGetOperand(i, 0);
        }
    return found;
}

static unsigned argument_number(LLVMValueRef argument)
{
    LLVMValueRef f = LLVMGetParamParent(argument);
    unsigned i = 0;
    while (LLVMGetParam(f, i) != argument)
        i++;
    return i;
}

/* A method's object goes by the name of its class. */
static char *class_at(const struct dh_lock_wrappers *l, LLVMValueRef argument, int64_t offset)
{
    LLVMValueRef f = LLVMGetParamParent(argument);
    uint32_t site = dh_ir_function_site(f);
    struct dh_site_table t = dh_site_builder_view(l->sites);
    const char *function = site < t.n_sites ? dh_site_string(&t, t.sites[site].function) : "";
    const char *last = NULL;
    for (const char *at = function; (at = strstr(at, "::")); at += 2)
        last = at;
    if (!last || argument_number(argument) > 1 || is_of_library(function) || strchr(function, '<'))
        return NULL;
    LLVMTypeRef type = NULL;
    for (int i = 0; !type && i < 2; i++) {
        char *name = dh_format("%s.%.*s", i ? "struct" : "class", (int)(last - function), function);
        type = LLVMGetTypeByName2(LLVMGetModuleContext(LLVMGetGlobalParent(f)), name);
        free(name);
    }
    char *found = type ? record_at(l, type, offset) : NULL;
    return found ? found : dh_format("%.*s+%lld", (int)(last - function), function, (long long)offset);
}

/* The name of what lies there, or NULL. Takes the record. */
static char *name_of(const struct dh_lock_wrappers *l, const struct address *a, const char *star)
{
    char *inner = a->record;
    if (!inner && LLVMIsAGlobalVariable(a->root))
        inner = dh_strdup(LLVMGetValueName2(a->root, &(size_t){0}));
    else if (!inner && LLVMIsAArgument(a->root))
        inner = class_at(l, a->root, a->offset);
    char *name = inner && *star ? dh_format("%s%s", star, inner) : NULL;
    if (!name)
        return inner;
    free(inner);
    return name;
}

static struct origin origin_of(const struct dh_lock_wrappers *l, LLVMValueRef v, int depth)
{
    struct address a = address_of(l, v);
    char *name = name_of(l, &a, "");
    if (name)
        return (struct origin){.kind = NAMED, .name = name};
    if (LLVMIsAArgument(a.root))
        return (struct origin){.kind = ARGUMENT, .argument = argument_number(a.root)};
    if (!LLVMIsALoadInst(a.root) || depth == STEPS)
        return (struct origin){.kind = UNKNOWN};
    struct address from = address_of(l, LLVMGetOperand(a.root, 0));
    LLVMValueRef value = LLVMIsAGlobalVariable(from.root) ? NULL : stored_in(l, function_of(a.root), &from);
    if (value) {
        struct origin o = origin_of(l, value, depth + 1);
        free(from.record);
        o.held_in = from.root;
        return o;
    }
    name = name_of(l, &from, "*");
    if (name)
        return (struct origin){.kind = NAMED, .name = name};
    if (LLVMIsAArgument(from.root))
        return (struct origin){.kind = THROUGH, .argument = argument_number(from.root), .offset = from.offset};
    return (struct origin){.kind = UNKNOWN};
}

/* ---- wrappers ---- */

static bool concerns_locks(uint8_t op)
{
    return op == DH_OP_LOCK || op == DH_OP_RDLOCK || op == DH_OP_TRYLOCK || op == DH_OP_TRYRDLOCK || op == DH_OP_UNLOCK;
}

static const struct dh_lock_wrapper *wrapper_of(const struct dh_lock_wrappers *l, LLVMValueRef call)
{
    LLVMValueRef called = LLVMIsAFunction(LLVMGetCalledValue(call));
    uint64_t *known = called ? dh_u64_map_find(&l->index, (uintptr_t)called) : NULL;
    return known && l->wrappers.at[*known].op != DH_OP_NONE ? &l->wrappers.at[*known] : NULL;
}

/* Of a guard: what the function has stored in it itself, or its constructor, called from here, says what it holds. */
static struct origin origin_of_held(const struct dh_lock_wrappers *l, const struct address *guard, LLVMValueRef f)
{
    LLVMValueRef value = stored_in(l, f, guard);
    if (value) {
        struct origin o = origin_of(l, value, 0);
        o.held_in = guard->root;
        return o;
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            bool call = LLVMIsACallInst(i) || LLVMIsAInvokeInst(i);
            const struct dh_lock_wrapper *w = call ? wrapper_of(l, i) : NULL;
            if (w && w->holder >= 0 && LLVMGetOperand(i, (unsigned)w->holder) == guard->root)
                return origin_of(l, LLVMGetOperand(i, w->argument), 0);
        }
    if (LLVMIsAArgument(guard->root))
        return (struct origin){.kind = THROUGH, .argument = argument_number(guard->root), .offset = guard->offset};
    return (struct origin){.kind = UNKNOWN};
}

/* What the call does, and to which lock as its function sees it. */
static uint8_t look_at(const struct dh_lock_wrappers *l, LLVMValueRef call, struct origin *o)
{
    struct dh_site_table t = dh_site_builder_view(l->sites);
    uint32_t number = dh_ir_site_of(call);
    const struct dh_site *site = number < t.n_sites && concerns_locks(t.sites[number].op) ? &t.sites[number] : NULL;
    const struct dh_lock_wrapper *w = site ? NULL : wrapper_of(l, call);
    *o = (struct origin){.kind = UNKNOWN};
    if (!site && !w)
        return DH_OP_NONE;
    unsigned argument = site ? 0 : w->argument;
    if (argument >= LLVMGetNumArgOperands(call))
        return site ? site->op : w->op;
    if (w && w->through) {
        struct address guard = address_of(l, LLVMGetOperand(call, argument));
        free(guard.record);
        guard.offset += w->offset;
        *o = origin_of_held(l, &guard, function_of(call));
    } else {
        *o = origin_of(l, LLVMGetOperand(call, argument), 0);
    }
    return site ? site->op : w->op;
}

/* One that does more than one thing, or not always the same, is none. */
static struct dh_lock_wrapper wrapper_in(const struct dh_lock_wrappers *l, LLVMValueRef f)
{
    struct dh_lock_wrapper w = {.op = DH_OP_NONE, .holder = -1};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            struct origin o;
            uint8_t op = LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) ? look_at(l, i, &o) : DH_OP_NONE;
            if (op == DH_OP_NONE)
                continue;
            free(o.name);
            bool up = o.kind == ARGUMENT || o.kind == THROUGH;
            if (!up || w.op != DH_OP_NONE)
                return (struct dh_lock_wrapper){.op = DH_OP_NONE, .holder = -1};
            w = (struct dh_lock_wrapper){op, o.kind == THROUGH, o.argument, o.offset, -1};
            if (o.held_in && LLVMIsAArgument(o.held_in))
                w.holder = (int)argument_number(o.held_in);
        }
    return w;
}

void dh_lock_wrappers_find(struct dh_lock_wrappers *l, LLVMModuleRef m, const struct dh_site_builder *sites)
{
    *l = (struct dh_lock_wrappers){.sites = sites, .layout = LLVMGetModuleDataLayout(m), .di = dh_di_new(m)};
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) {
            struct dh_lock_wrapper none = {.op = DH_OP_NONE, .holder = -1};
            *dh_u64_map_at(&l->index, (uintptr_t)f) = l->functions.n;
            dh_vec_push(&l->functions, f);
            dh_vec_push(&l->wrappers, none);
        }
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (size_t i = 0; i < l->functions.n; i++) {
            struct dh_lock_wrapper w = wrapper_in(l, l->functions.at[i]), old = l->wrappers.at[i];
            changed |=
                w.op != old.op || w.argument != old.argument || w.through != old.through || w.holder != old.holder;
            l->wrappers.at[i] = w;
        }
    }
}

uint8_t dh_lock_operation(const struct dh_lock_wrappers *l, LLVMValueRef call, char **name)
{
    struct origin o;
    uint8_t op = look_at(l, call, &o);
    uint64_t *own = dh_u64_map_find(&l->index, (uintptr_t)function_of(call));
    *name = o.name;
    if (op != DH_OP_NONE && own && l->wrappers.at[*own].op != DH_OP_NONE) {
        free(o.name);
        *name = NULL;
        return DH_OP_NONE;
    }
    return op;
}
