#include "instrument/attributes.h"

#include "instrument/instrument.h"
#include "instrument/pass.h"
#include "ir/site_scopes.h"

#include <string.h>

static const char *const untrue[] = {"memory", "nosync", "nofree", "willreturn", "norecurse", "speculatable"};
enum { UNTRUE = sizeof untrue / sizeof *untrue };

static void kinds_of(unsigned kinds[UNTRUE])
{
    for (int i = 0; i < UNTRUE; i++)
        kinds[i] = LLVMGetEnumAttributeKindForName(untrue[i], strlen(untrue[i]));
}

void dh_instrument_prepare(LLVMModuleRef m)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    unsigned kind = LLVMGetEnumAttributeKindForName("sanitize_thread", strlen("sanitize_thread"));
    LLVMAttributeRef attribute = LLVMCreateEnumAttribute(c, kind, 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        /* Unchecked functions stay separate: the inliner does not inline across differing sanitize attributes. */
        if (!LLVMIsDeclaration(f) && !dh_function_is_unchecked(f))
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, attribute);
    dh_ir_add_site_scopes(m);
}

/* Can running this call run a hook? Unknown callees and functions of this module can. */
static bool reaches_hooks(LLVMValueRef call)
{
    LLVMValueRef called = LLVMGetCalledValue(call), f = LLVMIsAFunction(called);
    if (!f)
        return !LLVMIsAInlineAsm(called);
    return !LLVMGetIntrinsicID(f) && !LLVMIsDeclaration(f);
}

static void relax_call(LLVMValueRef call, const unsigned kinds[UNTRUE])
{
    for (int i = 0; i < UNTRUE; i++)
        if (LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kinds[i]))
            LLVMRemoveCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kinds[i]);
}

static void relax_function(LLVMValueRef f, const unsigned kinds[UNTRUE])
{
    for (int i = 0; i < UNTRUE; i++)
        LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kinds[i]);
}

/* Relaxes the calls in `f` and answers whether f itself calls anything. */
static bool relax_calls(LLVMValueRef f, const unsigned kinds[UNTRUE])
{
    bool calls = false;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
            if (!dh_is_call(i) || dh_is_intrinsic_call(i))
                continue;
            calls = true;
            if (reaches_hooks(i))
                relax_call(i, kinds);
        }
    return calls;
}

void dh_attributes_relax(LLVMModuleRef m)
{
    unsigned kinds[UNTRUE];
    kinds_of(kinds);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && relax_calls(f, kinds))
            relax_function(f, kinds);
}
