#include "instrument/hooks.h"

#include <string.h>

/* Letters: v nothing, p pointer, b u8, h u16, i u32, l u64 or size_t, q u128. */
static const struct {
    const char *name;
    char result;
    const char *params;
} table[DH_HOOK_COUNT] = {
    [DH_HOOK_READ1] = {"__dh_read1", 'v', "pi"},
    [DH_HOOK_READ2] = {"__dh_read2", 'v', "pi"},
    [DH_HOOK_READ4] = {"__dh_read4", 'v', "pi"},
    [DH_HOOK_READ8] = {"__dh_read8", 'v', "pi"},
    [DH_HOOK_READ16] = {"__dh_read16", 'v', "pi"},
    [DH_HOOK_READ4_SHARED] = {"__dh_read4_shared", 'v', "pi"},
    [DH_HOOK_READ8_SHARED] = {"__dh_read8_shared", 'v', "pi"},
    [DH_HOOK_ALIVE_READ] = {"__dh_alive_read", 'v', "pli"},
    [DH_HOOK_ALIVE_WRITE] = {"__dh_alive_write", 'v', "pli"},
    [DH_HOOK_READ_UNALIGNED] = {"__dh_read_unaligned", 'v', "pli"},
    [DH_HOOK_WRITE_UNALIGNED] = {"__dh_write_unaligned", 'v', "pli"},
    [DH_HOOK_WRITE1] = {"__dh_write1", 'v', "pli"},
    [DH_HOOK_WRITE2] = {"__dh_write2", 'v', "pli"},
    [DH_HOOK_WRITE4] = {"__dh_write4", 'v', "pli"},
    [DH_HOOK_WRITE8] = {"__dh_write8", 'v', "pli"},
    [DH_HOOK_WRITE16] = {"__dh_write16", 'v', "pi"},
    [DH_HOOK_READ_RANGE] = {"__dh_read_range", 'v', "pli"},
    [DH_HOOK_WRITE_RANGE] = {"__dh_write_range", 'v', "pli"},
    [DH_HOOK_ATOMIC] = {"__dh_atomic", 'v', "pii"},
    [DH_HOOK_FENCE] = {"__dh_fence", 'v', "ii"},
    [DH_HOOK_CALL] = {"__dh_call", 'v', "i"},
    [DH_HOOK_READ_RUN] = {"__dh_read_run", 'v', "plli"},
    [DH_HOOK_WRITE_RUN] = {"__dh_write_run", 'v', "plli"},
    [DH_HOOK_SPARE] = {"__dh_spare", 'v', "pp"},
    [DH_HOOK_BEFORE] = {"__dh_before", 'v', "pii"},
    [DH_HOOK_AFTER] = {"__dh_after", 'v', "pii"},
    [DH_HOOK_BEFORE_RANGE] = {"__dh_before_range", 'v', "pplii"},
    [DH_HOOK_AFTER_RANGE] = {"__dh_after_range", 'v', "pplii"},
    [DH_HOOK_ATOM_BEFORE] = {"__dh_atom_before", 'l', "plii"},
    [DH_HOOK_ATOM_AFTER] = {"__dh_atom_after", 'v', "pllii"},
    [DH_HOOK_ATOM_BEFORE_RANGE] = {"__dh_atom_before_range", 'v', "ppllii"},
    [DH_HOOK_ATOM_AFTER_RANGE] = {"__dh_atom_after_range", 'v', "ppllii"},
    [DH_HOOK_ATOMIC_LOAD1] = {"__dh_atomic_load1", 'b', "pii"},
    [DH_HOOK_ATOMIC_LOAD2] = {"__dh_atomic_load2", 'h', "pii"},
    [DH_HOOK_ATOMIC_LOAD4] = {"__dh_atomic_load4", 'i', "pii"},
    [DH_HOOK_ATOMIC_LOAD8] = {"__dh_atomic_load8", 'l', "pii"},
    [DH_HOOK_ATOMIC_LOAD16] = {"__dh_atomic_load16", 'q', "pii"},
    [DH_HOOK_ATOMIC_STORE1] = {"__dh_atomic_store1", 'v', "pbii"},
    [DH_HOOK_ATOMIC_STORE2] = {"__dh_atomic_store2", 'v', "phii"},
    [DH_HOOK_ATOMIC_STORE4] = {"__dh_atomic_store4", 'v', "piii"},
    [DH_HOOK_ATOMIC_STORE8] = {"__dh_atomic_store8", 'v', "plii"},
    [DH_HOOK_ATOMIC_STORE16] = {"__dh_atomic_store16", 'v', "pqii"},
    [DH_HOOK_ATOMIC_RMW1] = {"__dh_atomic_rmw1", 'b', "pbiii"},
    [DH_HOOK_ATOMIC_RMW2] = {"__dh_atomic_rmw2", 'h', "phiii"},
    [DH_HOOK_ATOMIC_RMW4] = {"__dh_atomic_rmw4", 'i', "piiii"},
    [DH_HOOK_ATOMIC_RMW8] = {"__dh_atomic_rmw8", 'l', "pliii"},
    [DH_HOOK_ATOMIC_RMW16] = {"__dh_atomic_rmw16", 'q', "pqiii"},
    [DH_HOOK_ATOMIC_CAS1] = {"__dh_atomic_cas1", 'b', "pbbiii"},
    [DH_HOOK_ATOMIC_CAS2] = {"__dh_atomic_cas2", 'h', "phhiii"},
    [DH_HOOK_ATOMIC_CAS4] = {"__dh_atomic_cas4", 'i', "piiiii"},
    [DH_HOOK_ATOMIC_CAS8] = {"__dh_atomic_cas8", 'l', "plliii"},
    [DH_HOOK_ATOMIC_CAS16] = {"__dh_atomic_cas16", 'q', "pqqiii"},
    [DH_HOOK_NOTE_READ] = {"__dh_note_read", 'v', "pli"},
    [DH_HOOK_NOTE_WRITE] = {"__dh_note_write", 'v', "pli"},
    [DH_HOOK_NOTE_READ4] = {"__dh_note_read4", 'v', "pi"},
    [DH_HOOK_NOTE_READ8] = {"__dh_note_read8", 'v', "pi"},
    [DH_HOOK_NOTE_WRITE4] = {"__dh_note_write4", 'v', "pi"},
    [DH_HOOK_NOTE_WRITE8] = {"__dh_note_write8", 'v', "pi"},
    [DH_HOOK_SCOPE_READ] = {"__dh_scope_read", 'v', "pli"},
    [DH_HOOK_SCOPE_WRITE] = {"__dh_scope_write", 'v', "pli"},
    [DH_HOOK_SCOPE_READ_RANGE] = {"__dh_scope_read_range", 'v', "pli"},
    [DH_HOOK_SCOPE_WRITE_RANGE] = {"__dh_scope_write_range", 'v', "pli"},
    [DH_HOOK_ASSEMBLY] = {"__dh_assembly", 'v', "i"},
    [DH_HOOK_ENTER] = {"__dh_enter", 'i', "pp"},
    [DH_HOOK_LEAVE] = {"__dh_leave", 'v', "i"},
    [DH_HOOK_RESUME] = {"__dh_resume", 'v', "i"},
    [DH_HOOK_SCOPE_ENTER] = {"__dh_scope_enter", 'i', "pi"},
    [DH_HOOK_SCOPE_LEAVE] = {"__dh_scope_leave", 'v', "i"},
    [DH_HOOK_LOAD1] = {"__dh_load1", 'b', "pii"},
    [DH_HOOK_LOAD2] = {"__dh_load2", 'h', "pii"},
    [DH_HOOK_LOAD4] = {"__dh_load4", 'i', "pii"},
    [DH_HOOK_LOAD8] = {"__dh_load8", 'l', "pii"},
    [DH_HOOK_STORE1] = {"__dh_store1", 'v', "pbii"},
    [DH_HOOK_STORE2] = {"__dh_store2", 'v', "phii"},
    [DH_HOOK_STORE4] = {"__dh_store4", 'v', "piii"},
    [DH_HOOK_STORE8] = {"__dh_store8", 'v', "plii"},
    [DH_HOOK_LOAD_ANY] = {"__dh_load_any", 'v', "pplii"},
    [DH_HOOK_STORE_ANY] = {"__dh_store_any", 'v', "pplii"},
    [DH_HOOK_COPY_ANY] = {"__dh_copy_any", 'v', "pplii"},
    [DH_HOOK_FILL_ANY] = {"__dh_fill_any", 'v', "pilii"},
    [DH_HOOK_LOCAL] = {"__dh_local", 'v', "pl"},
    [DH_HOOK_UNWATCHED] = {"__dh_unwatched", 'i', "pl"},
    [DH_HOOK_HEAL_OPEN] = {"__dh_heal_open", 'v', "pii"},
    [DH_HOOK_HEAL_CLOSE] = {"__dh_heal_close", 'v', "ii"},
    [DH_HOOK_HEAL_ENTER] = {"__dh_heal_enter", 'v', "ii"},
    [DH_HOOK_HEAL_LEAVE] = {"__dh_heal_leave", 'v', "ii"},
    [DH_HOOK_HEAL_OPEN_AT] = {"__dh_heal_open_at", 'v', "pppii"},
    [DH_HOOK_HEAL_ENTER_AT] = {"__dh_heal_enter_at", 'v', "pii"},
    [DH_HOOK_HEAL_LEAVE_AT] = {"__dh_heal_leave_at", 'v', "pii"},
    [DH_HOOK_HEAL_AWAIT] = {"__dh_heal_await", 'v', "ii"},
    [DH_HOOK_HEAL_HAPPENED] = {"__dh_heal_happened", 'v', "ii"},
    [DH_HOOK_HEAL_WAIT] = {"__dh_heal_wait", 'v', "i"},
    [DH_HOOK_HEAL_RETURN] = {"__dh_heal_return", 'v', "p"},
    [DH_HOOK_HEAL_AGAIN] = {"__dh_heal_again", 'v', "p"},
};

static LLVMTypeRef type_of(LLVMContextRef c, char letter)
{
    switch (letter) {
    case 'p':
        return LLVMPointerTypeInContext(c, 0);
    case 'b':
        return LLVMInt8TypeInContext(c);
    case 'h':
        return LLVMInt16TypeInContext(c);
    case 'i':
        return LLVMInt32TypeInContext(c);
    case 'l':
        return LLVMInt64TypeInContext(c);
    case 'q':
        return LLVMInt128TypeInContext(c);
    default:
        return LLVMVoidTypeInContext(c);
    }
}

static void add_attribute(LLVMContextRef c, LLVMValueRef f, LLVMAttributeIndex where, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, where, LLVMCreateEnumAttribute(c, kind, 0));
}

/* The x86-64 ABI as clang follows it: the caller widens narrow integers. */
static void add_widening(LLVMContextRef c, LLVMValueRef f, LLVMAttributeIndex where, char letter)
{
    if (letter == 'b' || letter == 'h')
        add_attribute(c, f, where, "zeroext");
}

/* Hooks of chosen accesses access their arguments and the runtime's own state only, so that loops around them can still
 * be optimised. Encoded as llvm::MemoryEffects: two bits (1 read, 2 write) each for arguments, inaccessible and other
 * memory. */
static void add_effects(LLVMContextRef c, LLVMValueRef f, enum dh_hook hook)
{
    enum { ARGUMENTS_AND_INACCESSIBLE = 3 | 3 << 2, READS_INACCESSIBLE = 1 << 2 };
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", strlen("memory"));
    if ((hook >= DH_HOOK_LOAD1 && hook <= DH_HOOK_FILL_ANY) || hook == DH_HOOK_UNWATCHED)
        LLVMAddAttributeAtIndex(
            f, LLVMAttributeFunctionIndex,
            LLVMCreateEnumAttribute(c, kind,
                                    hook == DH_HOOK_UNWATCHED ? READS_INACCESSIBLE : ARGUMENTS_AND_INACCESSIBLE));
}

static void declare(struct dh_hooks *h, enum dh_hook hook)
{
    LLVMContextRef c = LLVMGetModuleContext(h->m);
    const char *params = table[hook].params;
    unsigned n = (unsigned)strlen(params);
    LLVMTypeRef types[DH_HOOK_MAX_ARGS];
    for (unsigned i = 0; i < n; i++)
        types[i] = type_of(c, params[i]);
    h->type[hook] = LLVMFunctionType(type_of(c, table[hook].result), types, n, false);
    LLVMValueRef f = LLVMGetNamedFunction(h->m, table[hook].name);
    if (!f) {
        f = LLVMAddFunction(h->m, table[hook].name, h->type[hook]);
        add_attribute(c, f, LLVMAttributeFunctionIndex, "nounwind");
        add_effects(c, f, hook);
        add_widening(c, f, LLVMAttributeReturnIndex, table[hook].result);
        for (unsigned i = 0; i < n; i++)
            add_widening(c, f, i + 1, params[i]);
    }
    h->function[hook] = f;
}

bool dh_hooks_init(struct dh_hooks *h, LLVMModuleRef m, struct dh_err *err)
{
    *h = (struct dh_hooks){.m = m};
    for (int i = 0; i < DH_HOOK_COUNT; i++)
        if (LLVMGetNamedGlobal(m, table[i].name) || LLVMGetNamedGlobalAlias(m, table[i].name, strlen(table[i].name)))
            return dh_err_set(err, "the program defines '%s', a name reserved for the runtime; rename it",
                              table[i].name);
    return true;
}

LLVMValueRef dh_hooks_call(struct dh_hooks *h, LLVMBuilderRef b, enum dh_hook hook, LLVMValueRef *args)
{
    if (!h->function[hook])
        declare(h, hook);
    unsigned n = (unsigned)strlen(table[hook].params);
    return LLVMBuildCall2(b, h->type[hook], h->function[hook], args, n, "");
}

bool dh_hooks_is_hook(LLVMValueRef called)
{
    size_t n;
    if (!LLVMIsAFunction(called))
        return false;
    const char *name = LLVMGetValueName2(called, &n);
    return n > strlen(DH_HOOK_PREFIX) && !memcmp(name, DH_HOOK_PREFIX, strlen(DH_HOOK_PREFIX));
}

enum dh_hook dh_hooks_which(LLVMValueRef called)
{
    const char *name = dh_hooks_is_hook(called) ? LLVMGetValueName2(called, &(size_t){0}) : NULL;
    for (int i = 0; name && i < DH_HOOK_COUNT; i++)
        if (!strcmp(name, table[i].name))
            return (enum dh_hook)i;
    return DH_HOOK_COUNT;
}

enum dh_hook dh_hooks_access(LLVMValueRef call)
{
    LLVMValueRef called = LLVMGetCalledValue(call);
    if (!dh_hooks_is_hook(called))
        return DH_HOOK_COUNT;
    const char *name = LLVMGetValueName2(called, &(size_t){0});
    for (int i = DH_HOOK_LOAD1; i <= DH_HOOK_STORE8; i++)
        if (!strcmp(name, table[i].name))
            return (enum dh_hook)i;
    return DH_HOOK_COUNT;
}

bool dh_hooks_takes_place(LLVMValueRef called)
{
    if (!dh_hooks_is_hook(called))
        return false;
    const char *name = LLVMGetValueName2(called, &(size_t){0});
    for (int i = 0; i < DH_HOOK_ENTER; i++)
        if (!strcmp(name, table[i].name))
            return true;
    return false;
}
