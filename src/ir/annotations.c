#include "ir/annotations.h"

#include "base/str.h"
#include "base/vec.h"
#include "event/hooks.h"
#include "ir/debug_info.h"
#include "model/mangled_names.h"

#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "deadheat."

struct reading {
    LLVMModuleRef m;
    LLVMContextRef c;
    LLVMBuilderRef b;
    LLVMTargetDataRef layout;
    struct dh_di *di; /* made when first needed */
    LLVMValueRef hook;
    LLVMTypeRef hook_type;
};

static struct dh_di *debug_info(struct reading *r)
{
    if (!r->di)
        r->di = dh_di_new(r->m);
    return r->di;
}

/* ---- strings ---- */

/* Of a constant that points to text; NULL when it does not. Not terminated. */
static const char *text_of(LLVMValueRef pointer, size_t *n)
{
    LLVMValueRef global = pointer ? LLVMIsAGlobalVariable(pointer) : NULL;
    LLVMValueRef value = global ? LLVMGetInitializer(global) : NULL;
    if (!value || !LLVMIsAConstantDataSequential(value) || !LLVMIsConstantString(value))
        return NULL;
    const char *text = LLVMGetAsString(value, n);
    while (*n && !text[*n - 1])
        --*n;
    return text;
}

/* The argument of an annotation named `word`, allocated; NULL when it is another one. */
static char *after_word(LLVMValueRef pointer, const char *word)
{
    size_t n, k = strlen(word);
    const char *text = text_of(pointer, &n);
    if (!text || n < k || memcmp(text, word, k) != 0)
        return NULL;
    return dh_format("%.*s", (int)(n - k), text + k);
}

static bool is_ours(LLVMValueRef pointer)
{
    char *rest = after_word(pointer, PREFIX);
    bool ours = rest != NULL;
    free(rest);
    return ours;
}

static bool has_argument(LLVMValueRef arguments, const char *word)
{
    LLVMValueRef global = arguments ? LLVMIsAGlobalVariable(arguments) : NULL;
    LLVMValueRef list = global ? LLVMGetInitializer(global) : NULL;
    for (int i = 0; list && i < LLVMGetNumOperands(list); i++) {
        size_t n;
        const char *text = text_of(LLVMGetOperand(list, (unsigned)i), &n);
        if (text && n == strlen(word) && memcmp(text, word, n) == 0)
            return true;
    }
    return false;
}

static void record(struct reading *r, LLVMValueRef text, const char *about)
{
    size_t n;
    const char *said = text_of(text, &n);
    char *line = dh_format("%.*s %s", (int)(n - strlen(PREFIX)), said + strlen(PREFIX), about);
    LLVMMetadataRef string = LLVMMDStringInContext2(r->c, line, strlen(line));
    LLVMAddNamedMetadataOperand(r->m, DH_ANNOTATIONS_METADATA,
                                LLVMMetadataAsValue(r->c, LLVMMDNodeInContext2(r->c, &string, 1)));
    free(line);
}

/* ---- which lock ---- */

/* Location of a lock: a global, or an offset in the guarded object. */
struct lock {
    LLVMValueRef global; /* NULL: a member of the object */
    uint64_t offset;     /* bytes into the object */
    uint64_t bytes;      /* of the lock itself, 0 = not known */
    bool through;        /* a pointer to the lock is there */
    bool sure;           /* its type is one whose acquisitions are always observed */
};

static bool is_known_lock(const char *name)
{
    static const char *const names[] = {
        "pthread_mutex_t", "pthread_rwlock_t", "pthread_spinlock_t",    "mtx_t",        "mutex",
        "recursive_mutex", "timed_mutex",      "recursive_timed_mutex", "shared_mutex", "shared_timed_mutex"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* A lock type by its name, or a record that wraps one. */
static bool is_sure_lock(struct reading *r, struct dh_type *t, unsigned depth)
{
    uint32_t n = 0;
    for (; t && !dh_type_is_record(t); t = dh_type_base(r->di, t)) {
        if (is_known_lock(t->name))
            return true;
        if (t->tag == DH_TAG_POINTER || t->tag == DH_TAG_ARRAY)
            return false;
    }
    if (!t || is_known_lock(t->name))
        return t;
    t = dh_type_strip(r->di, t);
    struct dh_type *const *all = t && depth ? dh_type_elements(r->di, t, &n) : NULL;
    for (uint32_t i = 0; i < n; i++)
        if ((all[i]->tag == DH_TAG_MEMBER || all[i]->tag == DH_TAG_INHERITANCE) &&
            is_sure_lock(r, dh_type_base(r->di, all[i]), depth - 1))
            return true;
    return false;
}

static void describe_lock(struct reading *r, struct dh_type *t, bool asked_through, struct lock *out)
{
    bool reference;
    struct dh_type *pointee = dh_type_pointee(r->di, t, &reference);
    out->through = pointee || asked_through;
    t = pointee ? pointee : t;
    out->sure = is_sure_lock(r, t, 2);
    out->bytes = t ? dh_type_bits(r->di, t) / 8 : 0;
}

static struct dh_type *find_member(struct reading *r, struct dh_type *record, const char *name, uint64_t *bits)
{
    uint32_t n;
    struct dh_type *const *all = dh_type_elements(r->di, record, &n);
    for (uint32_t i = 0; i < n; i++)
        if (all[i]->tag == DH_TAG_MEMBER && strcmp(all[i]->name, name) == 0) {
            *bits += all[i]->offset;
            return all[i];
        }
    for (uint32_t i = 0; i < n; i++) {
        struct dh_type *base = all[i]->tag == DH_TAG_INHERITANCE ? dh_type_base(r->di, all[i]) : NULL;
        uint64_t inner = *bits + all[i]->offset;
        base = base ? dh_type_strip(r->di, base) : NULL;
        struct dh_type *found = base ? find_member(r, base, name, &inner) : NULL;
        if (found) {
            *bits = inner;
            return found;
        }
    }
    return NULL;
}

static LLVMValueRef find_global(struct reading *r, const char *name)
{
    LLVMValueRef found = LLVMGetNamedGlobal(r->m, name);
    for (LLVMValueRef g = LLVMGetFirstGlobal(r->m); g && !found; g = LLVMGetNextGlobal(g)) {
        const struct dh_variable *v = dh_di_global(r->di, g);
        size_t n = v ? strlen(v->name) : 0, k = strlen(name);
        if (n >= k && strcmp(v->name + n - k, name) == 0 && (n == k || v->name[n - k - 1] == ':'))
            found = g;
    }
    return found;
}

/* An identifier, perhaps with `this->`, `*`, `&` or parentheses around; in place. NULL: nothing we understand. */
static char *plain_name(char *text, bool *through)
{
    size_t n = strlen(text);
    *through = false;
    for (bool again = true; again;) {
        again = false;
        while (*text == ' ' || *text == '(' || *text == '&' || *text == '*') {
            *through = *through || *text == '*';
            text++, again = true;
        }
        n = strlen(text);
        while (n && (text[n - 1] == ' ' || text[n - 1] == ')'))
            text[--n] = 0;
        if (dh_starts_with(text, "this->") || dh_starts_with(text, "this.")) {
            text += strcspn(text, ">.") + 1;
            again = true;
        }
    }
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:") == n ? text : NULL;
}

/* `expression` as the source writes it beside a member of `record` (NULL: beside a variable). */
static bool find_lock(struct reading *r, const char *expression, struct dh_type *record, struct lock *out)
{
    bool through;
    char *copy = dh_strdup(expression), *name = plain_name(copy, &through);
    uint64_t bits = 0;
    *out = (struct lock){0};
    struct dh_type *member = name && record ? find_member(r, record, name, &bits) : NULL;
    if (member) {
        out->offset = bits / 8;
        describe_lock(r, dh_type_base(r->di, member), through, out);
    } else if (name && (out->global = find_global(r, name))) {
        const struct dh_variable *v = dh_di_global(r->di, out->global);
        if (v && v->type)
            describe_lock(r, v->type, through, out);
    }
    free(copy);
    return member || out->global;
}

/* ---- calls of the hook ---- */

struct guard {
    struct lock lock;
    LLVMValueRef object; /* address of the record, when the lock is a member of it */
    LLVMValueRef words;  /* "guarded_by(lock)" */
};

static void declare_hook(struct reading *r)
{
    LLVMTypeRef p = LLVMPointerTypeInContext(r->c, 0), l = LLVMInt64TypeInContext(r->c), types[] = {p, p, l, p};
    r->hook_type = LLVMFunctionType(LLVMVoidTypeInContext(r->c), types, 4, false);
    r->hook = LLVMGetNamedFunction(r->m, "__dh_guarded");
    if (!r->hook)
        r->hook = LLVMAddFunction(r->m, "__dh_guarded", r->hook_type);
    unsigned kind = LLVMGetEnumAttributeKindForName("nounwind", strlen("nounwind"));
    LLVMAddAttributeAtIndex(r->hook, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(r->c, kind, 0));
}

static LLVMValueRef number(struct reading *r, uint64_t n)
{
    return LLVMConstInt(LLVMInt64TypeInContext(r->c), n, false);
}

static LLVMValueRef lock_address(struct reading *r, const struct guard *g)
{
    LLVMValueRef at = g->lock.global;
    if (!at) {
        LLVMValueRef offset = number(r, g->lock.offset);
        at = LLVMBuildGEP2(r->b, LLVMInt8TypeInContext(r->c), g->object, &offset, 1, "");
    }
    if (!g->lock.through)
        return at;
    /* Ours, not the program's. */
    LLVMValueRef load = LLVMBuildLoad2(r->b, LLVMPointerTypeInContext(r->c, 0), at, "");
    LLVMMetadataRef empty = LLVMMDNodeInContext2(r->c, NULL, 0);
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(r->c, "nosanitize", 10), LLVMMetadataAsValue(r->c, empty));
    return load;
}

static void call_hook(struct reading *r, const struct guard *g, LLVMValueRef addr, LLVMValueRef lock, uint64_t what,
                      LLVMValueRef words)
{
    uint64_t lock_bytes = g->lock.bytes < UINT32_MAX ? g->lock.bytes : 0;
    what |= (g->lock.sure ? DH_GUARDED_SURE : 0) | lock_bytes << DH_GUARDED_LOCK_SHIFT;
    LLVMValueRef args[] = {addr, lock, number(r, what), words};
    if (!r->hook)
        declare_hook(r);
    LLVMBuildCall2(r->b, r->hook_type, r->hook, args, 4, "");
}

/* Constructors and destructors access the object exclusively. */
static bool is_exclusive(LLVMValueRef f)
{
    size_t n;
    return dh_mangled_is_constructor_or_destructor(LLVMGetValueName2(f, &n));
}

static void guard_access(struct reading *r, const struct guard *g, LLVMValueRef at, LLVMValueRef addr, uint64_t bytes,
                         bool write)
{
    if (is_exclusive(LLVMGetBasicBlockParent(LLVMGetInstructionParent(at))))
        return;
    LLVMPositionBuilderBefore(r->b, at);
    LLVMSetCurrentDebugLocation2(r->b, LLVMInstructionGetDebugLoc(at));
    uint64_t size = bytes < DH_GUARDED_SIZE ? bytes : DH_GUARDED_SIZE;
    call_hook(r, g, addr, lock_address(r, g), size | (write ? DH_GUARDED_WRITE : 0), g->words);
}

static uint64_t stored(struct reading *r, LLVMTypeRef t)
{
    return LLVMStoreSizeOfType(r->layout, t);
}

static void guard_memory(struct reading *r, const struct guard *g, LLVMValueRef call, LLVMValueRef addr)
{
    LLVMValueRef size = LLVMGetOperand(call, 2);
    uint64_t bytes = LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 1;
    guard_access(r, g, call, addr, bytes, LLVMGetOperand(call, 0) == addr);
}

typedef DH_VEC(LLVMValueRef) values;

static void users_of(LLVMValueRef v, values *out)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
        dh_vec_push(out, LLVMGetUser(u));
}

static void guard_uses(struct reading *r, const struct guard *g, LLVMValueRef addr, bool pointee);

static void guard_use(struct reading *r, const struct guard *g, LLVMValueRef user, LLVMValueRef addr, bool pointee)
{
    if (LLVMIsAGetElementPtrInst(user) ||
        (LLVMIsAConstantExpr(user) && LLVMGetConstOpcode(user) == LLVMGetElementPtr)) {
        if (LLVMGetOperand(user, 0) == addr)
            guard_uses(r, g, user, pointee);
    } else if (!LLVMIsAInstruction(user)) {
        return;
    } else if (LLVMIsALoadInst(user)) {
        if (pointee)
            guard_uses(r, g, user, false); /* accesses to the pointee */
        else
            guard_access(r, g, user, addr, stored(r, LLVMTypeOf(user)), false);
    } else if (pointee) {
        return;
    } else if (LLVMIsAStoreInst(user)) {
        if (LLVMGetOperand(user, 1) == addr)
            guard_access(r, g, user, addr, stored(r, LLVMTypeOf(LLVMGetOperand(user, 0))), true);
    } else if (LLVMIsAAtomicRMWInst(user) || LLVMIsAAtomicCmpXchgInst(user)) {
        if (LLVMGetOperand(user, 0) == addr)
            guard_access(r, g, user, addr, stored(r, LLVMTypeOf(LLVMGetOperand(user, 1))), true);
    } else if (LLVMIsAMemIntrinsic(user)) {
        guard_memory(r, g, user, addr);
    }
}

static void guard_uses(struct reading *r, const struct guard *g, LLVMValueRef addr, bool pointee)
{
    values users = {0};
    users_of(addr, &users);
    for (size_t i = 0; i < users.n; i++)
        guard_use(r, g, users.at[i], addr, pointee);
    dh_vec_release(&users);
}

static LLVMValueRef words_of(struct reading *r, const char *kind, const char *expression)
{
    char *text = dh_format("%s(%s)", kind, expression);
    LLVMValueRef value = LLVMConstStringInContext2(r->c, text, strlen(text), false);
    LLVMValueRef global = LLVMAddGlobal(r->m, LLVMTypeOf(value), "");
    LLVMSetInitializer(global, value);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(global, true);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    free(text);
    return global;
}

static char *guard_expression(LLVMValueRef text, bool *pointee)
{
    char *expression = after_word(text, PREFIX "guarded_by:");
    *pointee = !expression;
    return expression ? expression : after_word(text, PREFIX "pt_guarded_by:");
}

/* ---- fields: llvm.ptr.annotation ---- */

/* The record that a field's address is computed from, and its own address. */
static struct dh_type *record_of(struct reading *r, LLVMValueRef field, LLVMValueRef *object)
{
    bool gep = LLVMIsAGetElementPtrInst(field) ||
               (LLVMIsAConstantExpr(field) && LLVMGetConstOpcode(field) == LLVMGetElementPtr);
    *object = gep ? LLVMGetOperand(field, 0) : field;
    LLVMTypeRef t = gep ? LLVMGetGEPSourceElementType(field) : NULL;
    if (t && LLVMGetTypeKind(t) == LLVMStructTypeKind && LLVMGetStructName(t))
        return dh_di_record_named(debug_info(r), LLVMGetStructName(t), LLVMABISizeOfType(r->layout, t) * 8);
    /* The first field of a global needs no computation. */
    const struct dh_variable *v =
        LLVMIsAGlobalVariable(*object) ? dh_di_global(debug_info(r), LLVMIsAGlobalVariable(*object)) : NULL;
    return v && v->type ? dh_type_strip(r->di, v->type) : NULL;
}

static void read_field(struct reading *r, LLVMValueRef call)
{
    bool pointee;
    LLVMValueRef field = LLVMGetOperand(call, 0), text = LLVMGetOperand(call, 1), object;
    char *expression = guard_expression(text, &pointee);
    struct dh_type *record_type = record_of(r, field, &object);
    struct guard g = {.object = object};
    if (expression && find_lock(r, expression, record_type, &g.lock)) {
        g.words = words_of(r, pointee ? "pt_guarded_by" : "guarded_by", expression);
        guard_uses(r, &g, call, pointee);
    }
    record(r, text, record_type && record_type->name[0] ? record_type->name : "a field");
    LLVMReplaceAllUsesWith(call, field);
    LLVMInstructionEraseFromParent(call);
    free(expression);
}

static void read_fields(struct reading *r)
{
    static const char prefix[] = "llvm.ptr.annotation.";
    for (LLVMValueRef f = LLVMGetFirstFunction(r->m); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        values calls = {0};
        if (!dh_starts_with(LLVMGetValueName2(f, &n), prefix))
            continue;
        users_of(f, &calls);
        for (size_t i = 0; i < calls.n; i++)
            if (LLVMIsACallInst(calls.at[i]) && is_ours(LLVMGetOperand(calls.at[i], 1)))
                read_field(r, calls.at[i]);
        dh_vec_release(&calls);
    }
}

/* ---- functions that want a lock held: requires_capability ---- */

/* Where the variable of that name is declared in the function's first block: `*type` is its type. */
static LLVMValueRef find_declared(struct reading *r, LLVMValueRef f, const char *name, struct dh_type **type)
{
    size_t n;
    for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)); i; i = LLVMGetNextInstruction(i)) {
        if (!LLVMIsACallInst(i) || strcmp(LLVMGetValueName2(LLVMGetCalledValue(i), &n), "llvm.dbg.declare") != 0)
            continue;
        LLVMMetadataRef node = dh_md_node(LLVMGetOperand(i, 1));
        const struct dh_variable *v = node ? dh_di_variable(debug_info(r), node) : NULL;
        LLVMValueRef place = dh_md_value(LLVMGetOperand(i, 0));
        if (v && v->type && strcmp(v->name, name) == 0 && place && LLVMIsAAllocaInst(place)) {
            *type = v->type;
            return i;
        }
    }
    return NULL;
}

/* `this` and the rest for `lock` and `this->lock`; for `a->lock` a parameter. Splits in place. */
static const char *owner_of(char *expression, const char **rest)
{
    char *arrow = strstr(expression, "->"), *start = expression + strspn(expression, " (&*");
    *rest = expression;
    if (!arrow)
        return "this";
    *arrow = 0;
    *rest = arrow + 2;
    return start;
}

/* The call is placed after the declaration, when the parameter is stored in its variable. */
static void require(struct reading *r, LLVMValueRef f, const char *expression)
{
    bool reference;
    struct dh_type *type = NULL;
    char *copy = dh_strdup(expression);
    const char *rest, *owner = owner_of(copy, &rest);
    LLVMValueRef declared = find_declared(r, f, owner, &type), at = declared ? LLVMGetNextInstruction(declared) : NULL;
    struct dh_type *record_type = type ? dh_type_pointee(debug_info(r), type, &reference) : NULL;
    struct guard g = {0};
    debug_info(r);
    if (find_lock(r, rest, record_type ? dh_type_strip(r->di, record_type) : NULL, &g.lock) &&
        (g.lock.global || declared) && !is_exclusive(f)) {
        if (g.lock.global)
            at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));
        while (LLVMIsAAllocaInst(at))
            at = LLVMGetNextInstruction(at);
        LLVMPositionBuilderBefore(r->b, at);
        LLVMMetadataRef here = LLVMGetSubprogram(f);
        unsigned line = here ? LLVMDISubprogramGetLine(here) : 0;
        LLVMSetCurrentDebugLocation2(r->b, here ? LLVMDIBuilderCreateDebugLocation(r->c, line, 0, here, NULL) : NULL);
        if (!g.lock.global)
            g.object =
                LLVMBuildLoad2(r->b, LLVMPointerTypeInContext(r->c, 0), dh_md_value(LLVMGetOperand(declared, 0)), "");
        LLVMValueRef lock = lock_address(r, &g);
        call_hook(r, &g, lock, lock, DH_GUARDED_CALL, words_of(r, "requires_capability", expression));
    }
    free(copy);
}

static void read_required(struct reading *r, LLVMValueRef f, LLVMValueRef text)
{
    char *list = after_word(text, PREFIX "requires:"), *next = list;
    for (char *one; list && !LLVMIsDeclaration(f) && (one = strsep(&next, ","));)
        require(r, f, one + strspn(one, " "));
    free(list);
}

/* ---- functions and variables: llvm.global.annotations ---- */

static void leave_unchecked(struct reading *r, LLVMValueRef f)
{
    LLVMAddAttributeAtIndex(
        f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(r->c, DH_NO_CHECK_ATTRIBUTE, (unsigned)strlen(DH_NO_CHECK_ATTRIBUTE), "", 0));
}

/* What the driver makes of no_sanitize_thread (compile.c). */
static void read_attributes(struct reading *r)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("noprofile", strlen("noprofile"));
    for (LLVMValueRef f = LLVMGetFirstFunction(r->m); f; f = LLVMGetNextFunction(f))
        if (LLVMGetEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind))
            leave_unchecked(r, f);
}

static void read_function(struct reading *r, LLVMValueRef f, LLVMValueRef text, LLVMValueRef arguments)
{
    char *rest = after_word(text, PREFIX "no_sanitize");
    if (rest && (has_argument(arguments, "thread") || has_argument(arguments, "all")))
        leave_unchecked(r, f);
    free(rest);
    read_required(r, f, text);
}

static void read_variable(struct reading *r, LLVMValueRef v, LLVMValueRef text)
{
    bool pointee;
    char *expression = guard_expression(text, &pointee);
    struct guard g = {0};
    debug_info(r);
    if (expression && find_lock(r, expression, NULL, &g.lock) && g.lock.global != v) {
        g.words = words_of(r, pointee ? "pt_guarded_by" : "guarded_by", expression);
        guard_uses(r, &g, v, pointee);
    }
    free(expression);
}

static void read_row(struct reading *r, LLVMValueRef row)
{
    size_t n;
    LLVMValueRef about = LLVMGetOperand(row, 0), text = LLVMGetOperand(row, 1), arguments = LLVMGetOperand(row, 4);
    record(r, text, LLVMGetValueName2(about, &n));
    if (LLVMIsAFunction(about))
        read_function(r, about, text, arguments);
    else if (LLVMIsAGlobalVariable(about))
        read_variable(r, about, text);
}

static void keep_rows(struct reading *r, LLVMValueRef old, values *rows)
{
    static const char name[] = "llvm.global.annotations";
    LLVMTypeRef row_type = LLVMGetElementType(LLVMGlobalGetValueType(old));
    LLVMDeleteGlobal(old);
    if (!rows->n)
        return;
    LLVMValueRef list = LLVMConstArray2(row_type, rows->at, rows->n);
    LLVMValueRef global = LLVMAddGlobal(r->m, LLVMTypeOf(list), name);
    LLVMSetInitializer(global, list);
    LLVMSetLinkage(global, LLVMAppendingLinkage);
    LLVMSetSection(global, "llvm.metadata");
}

static void read_globals(struct reading *r)
{
    LLVMValueRef global = LLVMGetNamedGlobal(r->m, "llvm.global.annotations");
    LLVMValueRef list = global ? LLVMGetInitializer(global) : NULL;
    values kept = {0}, ours = {0};
    for (int i = 0; list && i < LLVMGetNumOperands(list); i++) {
        LLVMValueRef row = LLVMGetOperand(list, (unsigned)i);
        if (is_ours(LLVMGetOperand(row, 1)))
            dh_vec_push(&ours, row);
        else
            dh_vec_push(&kept, row);
    }
    for (size_t i = 0; i < ours.n; i++)
        read_row(r, ours.at[i]);
    if (ours.n)
        keep_rows(r, global, &kept);
    dh_vec_release(&kept);
    dh_vec_release(&ours);
}

/* ---- what programs define for want of a detector ---- */

static void drop_body(LLVMModuleRef m, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    if (!f || LLVMIsDeclaration(f))
        return;
    LLVMLinkage linkage = LLVMGetLinkage(f);
    if (linkage != LLVMWeakAnyLinkage && linkage != LLVMWeakODRLinkage)
        return;
    LLVMSetValueName2(f, "", 0);
    LLVMValueRef declared = LLVMAddFunction(m, name, LLVMGlobalGetValueType(f));
    LLVMReplaceAllUsesWith(f, declared);
    LLVMDeleteFunction(f);
}

static void drop_bodies(LLVMModuleRef m)
{
#define DH_ANNOTATION_NAME(name) drop_body(m, #name);
#include "event/annotation_names.def"
#undef DH_ANNOTATION_NAME
}

void dh_ir_read_annotations(LLVMModuleRef m)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    struct reading r = {.m = m, .c = c, .layout = LLVMGetModuleDataLayout(m), .b = LLVMCreateBuilderInContext(c)};
    drop_bodies(m);
    read_attributes(&r);
    read_fields(&r);
    read_globals(&r);
    if (r.di)
        dh_di_free(r.di);
    LLVMDisposeBuilder(r.b);
}
