/* Decides which instructions are sites, fills their rows and tags them. */
#include "ir/sites.h"

#include "base/str.h"
#include "ir/access_names.h"
#include "ir/known_functions.h"
#include "model/mangled_names.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <string.h>

struct callee {
    const struct dh_known_function *known; /* NULL = nothing known */
    const char *name;
    enum dh_op intrinsic; /* memory intrinsics, else NONE */
    bool skipped;         /* debug intrinsics and the like: seen often, never a site */
};

struct walk {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMTargetDataRef layout;
    LLVMTypeRef i32;
    struct dh_site_builder *b;
    struct dh_di *di;
    struct dh_namer *names;
    struct dh_ptr_map callees;
    struct dh_ptr_map ordinals; /* by interned text of the name so far */
    struct dh_arena arena;
    struct dh_str text;
    unsigned site_kind, nosanitize_kind, via_kind, record_kind;
    /* of the current function */
    const struct dh_scope *scope;
    uint32_t order;
    bool thunk; /* a C++ thunk: adjusts `this` and calls; has no source */
};

/* Classification of one instruction, before it is named. */
struct found {
    enum dh_op op;
    LLVMValueRef pointer; /* address, or NULL */
    LLVMValueRef source;  /* address that a copy reads, or NULL */
    LLVMTypeRef type;     /* of a scalar access, or NULL */
    uint64_t bytes;
    bool bytes_vary;
    unsigned flags, order;
    const struct callee *callee;
};

/* ---- what an instruction is ---- */

enum dh_order dh_ir_order(LLVMAtomicOrdering o)
{
    switch (o) {
    case LLVMAtomicOrderingUnordered:
    case LLVMAtomicOrderingMonotonic:
        return DH_ORDER_RELAXED;
    case LLVMAtomicOrderingAcquire:
        return DH_ORDER_ACQUIRE;
    case LLVMAtomicOrderingRelease:
        return DH_ORDER_RELEASE;
    case LLVMAtomicOrderingAcquireRelease:
        return DH_ORDER_ACQ_REL;
    case LLVMAtomicOrderingSequentiallyConsistent:
        return DH_ORDER_SEQ_CST;
    default:
        return DH_ORDER_NONE;
    }
}

static bool is_access(struct walk *w, LLVMValueRef i, unsigned operand, LLVMTypeRef type, struct found *f)
{
    f->pointer = LLVMGetOperand(i, operand);
    f->type = type;
    f->bytes = LLVMStoreSizeOfType(w->layout, type);
    if (LLVMGetVolatile(i))
        f->flags |= DH_SITE_VOLATILE;
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        f->flags |= DH_SITE_VECTOR;
    /* Hooks cannot use segment-relative addresses. */
    return LLVMGetPointerAddressSpace(LLVMTypeOf(f->pointer)) == 0;
}

static bool is_load(struct walk *w, LLVMValueRef i, struct found *f)
{
    f->order = dh_ir_order(LLVMGetOrdering(i));
    f->op = f->order ? DH_OP_ATOMIC_LOAD : DH_OP_READ;
    return is_access(w, i, 0, LLVMTypeOf(i), f);
}

static bool is_store(struct walk *w, LLVMValueRef i, struct found *f)
{
    f->order = dh_ir_order(LLVMGetOrdering(i));
    f->op = f->order ? DH_OP_ATOMIC_STORE : DH_OP_WRITE;
    return is_access(w, i, 1, LLVMTypeOf(LLVMGetOperand(i, 0)), f);
}

static bool is_rmw(struct walk *w, LLVMValueRef i, struct found *f)
{
    f->order = dh_ir_order(LLVMGetOrdering(i));
    f->op = DH_OP_ATOMIC_RMW;
    return is_access(w, i, 0, LLVMTypeOf(LLVMGetOperand(i, 1)), f);
}

static bool is_cas(struct walk *w, LLVMValueRef i, struct found *f)
{
    f->order = dh_ir_order(LLVMGetCmpXchgSuccessOrdering(i));
    f->op = DH_OP_ATOMIC_CAS;
    return is_access(w, i, 0, LLVMTypeOf(LLVMGetOperand(i, 1)), f);
}

static bool is_fence(struct walk *w, LLVMValueRef i, struct found *f)
{
    (void)w;
    f->order = dh_ir_order(LLVMGetOrdering(i));
    f->op = DH_OP_FENCE;
    return true;
}

static enum dh_op intrinsic_op(const char *name)
{
    static const struct {
        const char *prefix;
        enum dh_op op;
    } table[] = {{"llvm.memcpy.", DH_OP_COPY}, {"llvm.memmove.", DH_OP_MOVE}, {"llvm.memset.", DH_OP_SET}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (dh_starts_with(name, table[i].prefix))
            return table[i].op;
    return DH_OP_NONE;
}

/* A function that the program defines itself is no library function, whatever its name. */
static bool is_own(LLVMValueRef function)
{
    LLVMLinkage l = LLVMGetLinkage(function);
    return !LLVMIsDeclaration(function) && (l == LLVMInternalLinkage || l == LLVMPrivateLinkage);
}

static const struct callee *look_up_callee(struct walk *w, LLVMValueRef called)
{
    struct callee *c = dh_ptr_map_find(&w->callees, called);
    if (c)
        return c;
    size_t n;
    c = dh_arena_take(&w->arena, sizeof *c);
    *dh_ptr_map_at(&w->callees, called) = c;
    LLVMValueRef function = LLVMIsAGlobalAlias(called) ? LLVMAliasGetAliasee(called) : called;
    if (!LLVMIsAFunction(function)) {
        c->skipped = true;
        return c;
    }
    const char *name = LLVMGetValueName2(called, &n);
    c->name = name[0] == '\1' ? name + 1 : name;
    c->intrinsic = intrinsic_op(c->name);
    c->skipped = (dh_starts_with(c->name, "llvm.") && !c->intrinsic) || dh_starts_with(c->name, "__dh_");
    if (!c->skipped && !c->intrinsic && !is_own(function))
        c->known = dh_known_function(c->name);
    return c;
}

static void take_size(LLVMValueRef call, int argument, struct found *f)
{
    if (argument < 0 || (unsigned)argument >= LLVMGetNumArgOperands(call)) {
        f->bytes_vary = f->pointer && dh_op_info(f->op)->group == DH_GROUP_MEMORY;
        return;
    }
    LLVMValueRef size = LLVMGetOperand(call, (unsigned)argument);
    if (LLVMIsAConstantInt(size))
        f->bytes = LLVMConstIntGetZExtValue(size);
    else
        f->bytes_vary = true;
}

static bool is_intrinsic(LLVMValueRef call, const struct callee *c, struct found *f)
{
    f->op = c->intrinsic;
    f->pointer = LLVMGetOperand(call, 0);
    f->source = f->op == DH_OP_SET ? NULL : LLVMGetOperand(call, 1);
    take_size(call, 2, f);
    LLVMValueRef is_volatile = LLVMGetOperand(call, 3);
    if (LLVMIsAConstantInt(is_volatile) && LLVMConstIntGetZExtValue(is_volatile))
        f->flags |= DH_SITE_VOLATILE;
    return LLVMGetPointerAddressSpace(LLVMTypeOf(f->pointer)) == 0;
}

/* Appending functions (strcat) read both operands: a read may be of either. */
static void take_source(LLVMValueRef call, const struct callee *c, struct found *f)
{
    unsigned other = c->known->address == 0;
    bool copies = (f->op == DH_OP_COPY || f->op == DH_OP_MOVE) && !strstr(c->name, "cat");
    if (copies && other < LLVMGetNumArgOperands(call) &&
        LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, other))) == LLVMPointerTypeKind)
        f->source = LLVMGetOperand(call, other);
}

static bool is_known_call(LLVMValueRef call, const struct callee *c, struct found *f)
{
    const struct dh_known_function *k = c->known;
    f->op = k->op;
    f->callee = c;
    if (k->address >= 0 && (unsigned)k->address < LLVMGetNumArgOperands(call)) {
        f->pointer = LLVMGetOperand(call, (unsigned)k->address);
        if (LLVMGetTypeKind(LLVMTypeOf(f->pointer)) != LLVMPointerTypeKind)
            return false; /* another signature: not the known function */
    }
    take_size(call, k->size, f);
    take_source(call, c, f);
    return true;
}

static bool is_call(struct walk *w, LLVMValueRef i, struct found *f)
{
    LLVMValueRef called = LLVMGetCalledValue(i);
    if (LLVMIsAInlineAsm(called)) {
        f->op = DH_OP_ASM;
        return LLVMGetInlineAsmHasSideEffects(called);
    }
    const struct callee *c = look_up_callee(w, called);
    if (c->skipped)
        return false;
    if (c->intrinsic)
        return is_intrinsic(i, c, f);
    return c->known && is_known_call(i, c, f);
}

typedef bool (*recognise)(struct walk *w, LLVMValueRef i, struct found *f);

static recognise recogniser(LLVMOpcode opcode)
{
    switch (opcode) {
    case LLVMLoad:
        return is_load;
    case LLVMStore:
        return is_store;
    case LLVMAtomicRMW:
        return is_rmw;
    case LLVMAtomicCmpXchg:
        return is_cas;
    case LLVMFence:
        return is_fence;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        return is_call;
    default:
        return NULL;
    }
}

/* Counters of profiling and coverage belong to other tools. */
static bool is_machinery(LLVMValueRef pointer)
{
    static const char *const prefixes[] = {"__profc_", "__profd_", "__llvm_", "__sancov", "llvm.", "__dh_"};
    size_t n;
    for (int i = 0; i < 4 && pointer && !LLVMIsAGlobalVariable(pointer); i++) {
        bool gep = LLVMIsAGetElementPtrInst(pointer) || LLVMGetValueKind(pointer) == LLVMConstantExprValueKind;
        if (!gep)
            return false;
        pointer = LLVMGetOperand(pointer, 0);
    }
    if (!pointer || !LLVMIsAGlobalVariable(pointer))
        return false;
    const char *name = LLVMGetValueName2(pointer, &n);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (dh_starts_with(name, prefixes[i]))
            return true;
    return false;
}

/* ---- rows ---- */

static uint32_t intern(struct walk *w, const char *text)
{
    return dh_site_builder_string(w->b, text);
}

/* Outermost call first, so that links point to lower indices. */
static uint32_t chain_of(struct walk *w, LLVMMetadataRef location)
{
    if (!location)
        return DH_NO_CHAIN;
    const struct dh_scope *s = dh_di_scope(w->di, LLVMDILocationGetScope(location));
    struct dh_chain link = {.next = chain_of(w, LLVMDILocationGetInlinedAt(location)),
                            .file = intern(w, s->file),
                            .function = intern(w, s->function),
                            .line = LLVMDILocationGetLine(location),
                            .column = LLVMDILocationGetColumn(location)};
    return dh_site_builder_chain(w->b, &link);
}

static void set_place(struct walk *w, LLVMValueRef i, struct dh_site *row)
{
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(i);
    const struct dh_scope *s = w->scope;
    row->inlined = DH_NO_CHAIN;
    if (location) {
        s = dh_di_scope(w->di, LLVMDILocationGetScope(location));
        row->line = LLVMDILocationGetLine(location);
        row->column = LLVMDILocationGetColumn(location);
        row->inlined = chain_of(w, LLVMDILocationGetInlinedAt(location));
    }
    row->file = intern(w, s->file);
    row->function = intern(w, s->function);
}

/* basename:function:variable:letters#ordinal, of the function that contains the instruction: a place inlined into
 * many functions would otherwise get a number that depends on all of them. */
static uint32_t stable_name(struct walk *w, const struct dh_site *row, const char *variable)
{
    dh_str_clear(&w->text);
    dh_str_addf(&w->text, "%s:%s:%s:%s", dh_basename(w->scope->file), w->scope->function, variable,
                dh_op_info(row->op)->letters);
    /* Offsets of the pool are unique per text and never 0 here: they can stand for it. */
    uint32_t key = intern(w, w->text.at);
    void **count = dh_ptr_map_at(&w->ordinals, (const void *)(uintptr_t)key);
    uintptr_t ordinal = (uintptr_t)*count + 1;
    *count = (void *)ordinal;
    dh_str_addf(&w->text, "#%lu", (unsigned long)ordinal);
    return intern(w, w->text.at);
}

static const char *start_routine(struct walk *w, LLVMValueRef call, const struct found *f)
{
    const char *name;
    struct dh_type *result;
    int at = f->callee ? f->callee->known->start : -1;
    if (at < 0 || (unsigned)at >= LLVMGetNumArgOperands(call))
        return NULL;
    LLVMValueRef routine = LLVMGetOperand(call, (unsigned)at);
    if (!LLVMIsAFunction(routine))
        return NULL;
    const struct dh_scope *s = dh_di_scope(w->di, LLVMGetSubprogram(routine));
    if (*s->function)
        return s->function;
    size_t n;
    return dh_di_function(w->di, routine, &name, &result) ? name : LLVMGetValueName2(routine, &n);
}

static void set_names(struct walk *w, LLVMValueRef i, const struct found *f, struct dh_site *row)
{
    struct dh_access_name name = {"", "", "", "", 0};
    struct dh_address a = {i,    f->pointer, f->type, f->bytes, w->order, dh_op_info(f->op)->group == DH_GROUP_SYNC,
                           false};
    if (f->callee) {
        /* The object an argument points to is whole, whatever the size argument says of its contents. */
        if (dh_op_info(f->op)->group != DH_GROUP_MEMORY)
            a.bytes = 0;
    }
    if (f->pointer)
        dh_namer_find(w->names, &a, &name);
    else if ((f->op == DH_OP_THREAD_JOIN || f->op == DH_OP_THREAD_DETACH) && LLVMGetNumArgOperands(i))
        dh_namer_value(w->names, LLVMGetOperand(i, 0), w->order, &name);
    const char *start = start_routine(w, i, f);
    row->variable = intern(w, name.variable);
    row->field = intern(w, name.field);
    row->expr = intern(w, start ? start : name.expr);
    row->type = intern(w, name.type);
    row->flags |= (uint16_t)(name.flags | (w->thunk ? DH_SITE_ARTIFICIAL : 0));
    row->name = stable_name(w, row, name.variable);
}

static void set_source(struct walk *w, LLVMValueRef i, const struct found *f, struct dh_site *row)
{
    struct dh_access_name name;
    struct dh_address a = {
        .instruction = i, .pointer = f->source, .bytes = f->bytes, .order = w->order, .source = true};
    if (!f->source)
        return;
    dh_namer_find(w->names, &a, &name);
    row->source = intern(w, name.variable);
    row->source_type = intern(w, name.type);
}

static void add_site(struct walk *w, LLVMValueRef i, const struct found *f)
{
    struct dh_site row = {.op = (uint8_t)f->op, .order = (uint8_t)f->order, .flags = (uint16_t)f->flags};
    if (f->bytes_vary)
        row.flags |= DH_SITE_SIZE_VARIES;
    row.size = f->bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)f->bytes;
    row.callee = f->callee ? intern(w, f->callee->name) : 0;
    set_place(w, i, &row);
    set_names(w, i, f, &row);
    set_source(w, i, f, &row);
    uint32_t id = dh_site_builder_add(w->b, &row);
    LLVMMetadataRef number = LLVMValueAsMetadata(LLVMConstInt(w->i32, id, false));
    LLVMMetadataRef node = LLVMMDNodeInContext2(w->context, &number, 1);
    LLVMSetMetadata(i, w->site_kind, LLVMMetadataAsValue(w->context, node));
}

static void number_instruction(struct walk *w, LLVMValueRef i)
{
    struct found f = {.op = DH_OP_NONE};
    recognise is_site = recogniser(LLVMGetInstructionOpcode(i));
    if (!is_site)
        return;
    if (!is_site(w, i, &f) || (f.pointer && is_machinery(f.pointer)))
        return;
    if (LLVMHasMetadata(i) && LLVMGetMetadata(i, w->nosanitize_kind))
        return;
    add_site(w, i, &f);
}

static bool is_ours(LLVMValueRef function)
{
    static const char *const prefixes[] = {"__dh_", "__llvm_", "llvm.", "asan.module_", "sancov.module_"};
    size_t n;
    const char *name = LLVMGetValueName2(function, &n);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (dh_starts_with(name, prefixes[i]))
            return true;
    return false;
}

/* Functions without debug information have sites, too; they are named by their symbol. */
static const struct dh_scope *scope_of(struct walk *w, LLVMValueRef function)
{
    LLVMMetadataRef node = LLVMGetSubprogram(function);
    if (node)
        return dh_di_scope(w->di, node);
    size_t n;
    struct dh_scope *s = dh_arena_take(&w->arena, sizeof *s);
    s->function = LLVMGetValueName2(function, &n);
    s->file = "";
    return s;
}

/* Name hints are not needed after numbering. */
static void remove_hints(struct walk *w, LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMHasMetadata(i))
                continue;
            if (LLVMGetInstructionOpcode(i) == LLVMGetElementPtr)
                LLVMSetMetadata(i, w->record_kind, NULL);
            else
                LLVMSetMetadata(i, w->via_kind, NULL);
        }
}

static bool is_thunk(LLVMValueRef function)
{
    size_t n;
    const char *name = LLVMGetValueName2(function, &n);
    return dh_mangled_is_thunk(name);
}

static void walk_function(struct walk *w, LLVMValueRef function)
{
    w->thunk = is_thunk(function);
    w->scope = scope_of(w, function);
    w->order = 0;
    dh_namer_enter(w->names, function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i), w->order++)
            number_instruction(w, i);
    remove_hints(w, function);
}

/* Hooks of its method scopes name this row, wherever it is inlined. */
static void add_function(struct walk *w, LLVMValueRef function)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
    struct dh_site row = {.op = DH_OP_FUNCTION, .inlined = DH_NO_CHAIN};
    w->scope = scope_of(w, function);
    row.file = intern(w, w->scope->file);
    row.function = intern(w, w->scope->function);
    row.line = subprogram ? LLVMDISubprogramGetLine(subprogram) : 0;
    row.flags = is_thunk(function) ? DH_SITE_ARTIFICIAL : 0;
    row.name = stable_name(w, &row, "");
    uint32_t id = dh_site_builder_add(w->b, &row);
    LLVMMetadataRef number = LLVMValueAsMetadata(LLVMConstInt(w->i32, id, false));
    LLVMGlobalSetMetadata(function, w->site_kind, LLVMMDNodeInContext2(w->context, &number, 1));
}

static unsigned kind_id(LLVMContextRef c, const char *name)
{
    return LLVMGetMDKindIDInContext(c, name, (unsigned)strlen(name));
}

bool dh_ir_number_sites(LLVMModuleRef m, struct dh_site_builder *b, struct dh_err *err)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    if (LLVMIsNewDbgInfoFormat(m))
        return dh_err_set(err, "module has debug records instead of debug intrinsics; convert it before numbering");
    struct walk w = {.module = m,
                     .context = c,
                     .layout = LLVMGetModuleDataLayout(m),
                     .i32 = LLVMInt32TypeInContext(c),
                     .b = b,
                     .di = dh_di_new(m),
                     .site_kind = kind_id(c, DH_SITE_METADATA),
                     .nosanitize_kind = kind_id(c, "nosanitize"),
                     .via_kind = kind_id(c, DH_VIA_METADATA),
                     .record_kind = kind_id(c, DH_RECORD_METADATA)};
    w.names = dh_namer_new(m, w.di);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !is_ours(f))
            walk_function(&w, f);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !is_ours(f))
            add_function(&w, f);
    dh_namer_free(w.names);
    dh_di_free(w.di);
    dh_ptr_map_release(&w.callees);
    dh_ptr_map_release(&w.ordinals);
    dh_arena_release(&w.arena);
    dh_str_release(&w.text);
    return true;
}

static uint32_t number_of(LLVMValueRef node)
{
    LLVMValueRef number = NULL;
    if (!node || LLVMGetMDNodeNumOperands(node) != 1)
        return DH_NO_SITE;
    LLVMGetMDNodeOperands(node, &number);
    if (!number || !LLVMIsAConstantInt(number))
        return DH_NO_SITE;
    return (uint32_t)LLVMConstIntGetZExtValue(number);
}

uint32_t dh_ir_site_of(LLVMValueRef instruction)
{
    if (!LLVMHasMetadata(instruction))
        return DH_NO_SITE;
    LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(instruction));
    return number_of(LLVMGetMetadata(instruction, kind_id(c, DH_SITE_METADATA)));
}

uint32_t dh_ir_function_site(LLVMValueRef function)
{
    LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    unsigned kind = kind_id(c, DH_SITE_METADATA);
    uint32_t site = DH_NO_SITE;
    size_t n;
    LLVMValueMetadataEntry *all = LLVMGlobalCopyAllMetadata(function, &n);
    for (unsigned i = 0; i < n; i++)
        if (LLVMValueMetadataEntriesGetKind(all, i) == kind)
            site = number_of(LLVMMetadataAsValue(c, LLVMValueMetadataEntriesGetMetadata(all, i)));
    LLVMDisposeValueMetadataEntries(all);
    return site;
}
