#include "ir/thread_entries.h"

#include "base/alloc.h"
#include "base/str.h"
#include "host/demangle.h"
#include "model/library_names.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

/* Callee and the operand that is the start function. */
static const struct {
    const char *callee;
    unsigned operand;
} starters[] = {{"pthread_create", 2}, {"thrd_create", 1}};

static LLVMValueRef operand_of(LLVMValueRef node, unsigned i)
{
    if (!node || (unsigned)LLVMGetMDNodeNumOperands(node) <= i)
        return NULL;
    LLVMValueRef *all = dh_xmalloc((size_t)LLVMGetMDNodeNumOperands(node) * sizeof *all);
    LLVMGetMDNodeOperands(node, all);
    LLVMValueRef found = all[i];
    free(all);
    return found;
}

/* "worker at bank.c:12", from the debug information; the symbol's name without it. */
static void add_function(LLVMValueRef f, struct dh_names *entries)
{
    size_t n;
    unsigned length;
    LLVMMetadataRef sub = LLVMGetSubprogram(f);
    const char *name = LLVMGetValueName2(f, &n);
    if (!sub) {
        dh_names_add(entries, name);
        return;
    }
    LLVMValueRef node = LLVMMetadataAsValue(LLVMGetModuleContext(LLVMGetGlobalParent(f)), sub);
    LLVMValueRef text = operand_of(node, 2); /* DISubprogram: file, scope, name, ... */
    const char *source = text ? LLVMGetMDString(text, &length) : NULL;
    LLVMMetadataRef file = LLVMDIScopeGetFile(sub);
    unsigned path_length;
    const char *path = file ? LLVMDIFileGetFilename(file, &path_length) : NULL;
    char *line =
        path ? dh_format("%s at %.*s:%u", source ? source : name, (int)path_length, path, LLVMDISubprogramGetLine(sub))
             : dh_strdup(name);
    dh_names_add(entries, line);
    free(line);
}

static void scan_uses(LLVMValueRef callee, unsigned operand, struct dh_names *entries)
{
    for (LLVMUseRef u = LLVMGetFirstUse(callee); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        if (!LLVMIsACallInst(call) && !LLVMIsAInvokeInst(call))
            continue;
        if (LLVMGetCalledValue(call) != callee || LLVMGetNumArgOperands(call) <= operand)
            continue;
        LLVMValueRef entry = LLVMGetOperand(call, operand);
        if (LLVMIsAFunction(entry))
            add_function(entry, entries);
    }
}

/* std::thread wraps its function in a _State_impl<_Invoker<tuple<F, ARGS...>>> whose _M_run the new thread calls: the
 * tuple is what people wrote. */
static void add_std_thread(const char *mangled, struct dh_names *entries)
{
    static const char start[] = "std::tuple<", end[] = "> > >::_M_run()";
    char *name = dh_demangle(mangled);
    const char *tuple = strstr(name, start), *stop = strstr(name, end);
    while (tuple && stop && stop > tuple && stop[-1] == ' ')
        stop--;
    char *entry = tuple && stop && stop > tuple
                      ? dh_format("std::thread of %.*s", (int)(stop - tuple - strlen(start)), tuple + strlen(start))
                      : dh_strdup(name);
    dh_names_add(entries, entry);
    free(entry);
    free(name);
}

void dh_ir_thread_entries(LLVMModuleRef m, struct dh_names *entries)
{
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++) {
        LLVMValueRef callee = LLVMGetNamedFunction(m, starters[i].callee);
        if (callee)
            scan_uses(callee, starters[i].operand, entries);
    }
    size_t n;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        const char *name = LLVMGetValueName2(f, &n);
        if (!LLVMIsDeclaration(f) && dh_library_is_thread_entry(name))
            add_std_thread(name, entries);
    }
}
