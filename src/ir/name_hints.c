#include "ir/name_hints.h"

#include "base/map.h"
#include "ir/access_names.h"
#include "ir/debug_info.h"
#include "ir/known_functions.h"
#include "model/library_names.h"

#include <string.h>

struct hints {
    LLVMContextRef context;
    unsigned via_kind, record_kind;
    struct dh_ptr_map variables; /* alloca -> DILocalVariable */
};

static void note_declaration(struct hints *k, LLVMValueRef call)
{
    size_t n;
    if (strcmp(LLVMGetValueName2(LLVMGetCalledValue(call), &n), "llvm.dbg.declare"))
        return;
    LLVMValueRef place = dh_md_value(LLVMGetOperand(call, 0));
    LLVMMetadataRef variable = dh_md_node(LLVMGetOperand(call, 1));
    if (place && variable && LLVMIsAAllocaInst(place))
        *dh_ptr_map_at(&k->variables, place) = variable;
}

/* Address argument of a call that may become a site; NULL = none. */
static LLVMValueRef call_address(LLVMValueRef call)
{
    size_t n;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAMemIntrinsic(call))
        return LLVMGetOperand(call, 0);
    if (!LLVMIsAFunction(callee))
        return NULL;
    const struct dh_known_function *known = dh_known_function(LLVMGetValueName2(callee, &n));
    if (!known || known->address < 0 || (unsigned)known->address >= LLVMGetNumArgOperands(call))
        return NULL;
    return LLVMGetOperand(call, (unsigned)known->address);
}

static LLVMValueRef address_of(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return LLVMGetOperand(i, 0);
    case LLVMStore:
        return LLVMGetOperand(i, 1);
    case LLVMCall:
    case LLVMInvoke:
        return call_address(i);
    default:
        return NULL;
    }
}

static void add_via_hint(struct hints *k, LLVMValueRef i)
{
    LLVMValueRef at = address_of(i);
    for (int depth = 0; at && depth < 64 && LLVMIsAInstruction(at); depth++) {
        LLVMOpcode op = LLVMGetInstructionOpcode(at);
        if (op == LLVMLoad) {
            LLVMMetadataRef variable = dh_ptr_map_find(&k->variables, LLVMGetOperand(at, 0));
            if (variable)
                LLVMSetMetadata(i, k->via_kind, LLVMMetadataAsValue(k->context, variable));
            return;
        }
        if (op != LLVMGetElementPtr && op != LLVMBitCast && op != LLVMFreeze)
            return;
        at = LLVMGetOperand(at, 0);
    }
}

static void add_record_hint(struct hints *k, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
    if (!name || LLVMGetNumIndices(gep) < 2)
        return;
    LLVMMetadataRef text = LLVMMDStringInContext2(k->context, name, strlen(name));
    LLVMMetadataRef node = LLVMMDNodeInContext2(k->context, &text, 1);
    LLVMSetMetadata(gep, k->record_kind, LLVMMetadataAsValue(k->context, node));
}

/* Declarations first: they need not come before the accesses in block order. */
static void add_hints(struct hints *k, LLVMValueRef f)
{
    dh_ptr_map_clear(&k->variables);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMCall && LLVMIsADbgVariableIntrinsic(i))
                note_declaration(k, i);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMGetElementPtr)
                add_record_hint(k, i);
            else
                add_via_hint(k, i);
}

void dh_ir_add_name_hints(LLVMModuleRef m)
{
    struct hints k = {.context = LLVMGetModuleContext(m)};
    k.via_kind = LLVMGetMDKindIDInContext(k.context, DH_VIA_METADATA, strlen(DH_VIA_METADATA));
    k.record_kind = LLVMGetMDKindIDInContext(k.context, DH_RECORD_METADATA, strlen(DH_RECORD_METADATA));
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            add_hints(&k, f);
    dh_ptr_map_release(&k.variables);
}

/* Members only: what the library calls atomic_thread_fence and the like is always_inline already. */
void dh_ir_inline_atomics(LLVMModuleRef m)
{
    size_t n;
    const LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
    unsigned never = LLVMGetEnumAttributeKindForName("noinline", strlen("noinline"));
    unsigned none = LLVMGetEnumAttributeKindForName("optnone", strlen("optnone"));
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || dh_library_class_of_member(LLVMGetValueName2(f, &n)) != DH_LIBRARY_ATOMIC)
            continue;
        LLVMRemoveEnumAttributeAtIndex(f, at, never);
        LLVMRemoveEnumAttributeAtIndex(f, at, none);
        LLVMAddAttributeAtIndex(f, at, LLVMCreateEnumAttribute(LLVMGetModuleContext(m), always, 0));
    }
}
