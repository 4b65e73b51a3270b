#include "ir/function_clone.h"

#include "base/alloc.h"
#include "base/map.h"
#include "ir/known_functions.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

struct cloning {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMDIBuilderRef debug;
    LLVMValueRef from, to;
    LLVMMetadataRef from_scope, to_scope;
    unsigned loop_kind;
    struct dh_ptr_map values; /* arguments, blocks (as values) and instructions of the original -> of the copy */
    struct dh_ptr_map scopes;
};

/* ---- what can be copied ---- */

static bool has(LLVMValueRef f, const char *attribute)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
    return LLVMGetEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind) != NULL;
}

static bool is_call(LLVMValueRef i)
{
    return LLVMIsACallInst(i) || LLVMIsAInvokeInst(i);
}

/* Not clonable: coroutines, callers of setjmp, inline assembly with labels. */
static bool may_call(LLVMValueRef call)
{
    static const char *const never[] = {"llvm.coro.", "llvm.localescape", "llvm.eh.sjlj."};
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t n;
    const char *name = LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &n) : "";
    for (size_t k = 0; k < sizeof never / sizeof *never; k++)
        if (strncmp(name, never[k], strlen(never[k])) == 0)
            return false;
    return !LLVMIsAInlineAsm(callee) &&
           !(LLVMIsAFunction(callee) && (has(callee, "returns_twice") || has(callee, "noduplicate")));
}

static bool may_copy(LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (op == LLVMIndirectBr || op == LLVMCallBr || LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMTokenTypeKind)
        return false;
    return !is_call(i) || may_call(i);
}

/* A blockaddress constant cannot be duplicated. */
static bool is_plain_block(LLVMBasicBlockRef b)
{
    for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(b)); u; u = LLVMGetNextUse(u))
        if (!LLVMIsAInstruction(LLVMGetUser(u)))
            return false;
    return true;
}

/* Replacements of library functions (operator new) are recognised by name. */
bool dh_ir_can_clone(LLVMValueRef f)
{
    static const char *const never[] = {"naked", "presplitcoroutine", "returns_twice", "noduplicate"};
    size_t length;
    if (dh_known_function(LLVMGetValueName2(f, &length)))
        return false;
    for (size_t n = 0; n < sizeof never / sizeof *never; n++)
        if (has(f, never[n]))
            return false;
    if (LLVMIsDeclaration(f) || LLVMHasPrefixData(f) || LLVMHasPrologueData(f))
        return false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        if (!is_plain_block(b))
            return false;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (!may_copy(i))
                return false;
    }
    return true;
}

/* ---- where it comes from ---- */

static LLVMMetadataRef operand_of(struct cloning *c, LLVMMetadataRef node, unsigned n)
{
    LLVMValueRef v = LLVMMetadataAsValue(c->context, node);
    unsigned all = (unsigned)LLVMGetMDNodeNumOperands(v);
    LLVMValueRef *operands = dh_xcalloc(all + 1, sizeof *operands);
    LLVMGetMDNodeOperands(v, operands);
    LLVMMetadataRef found = n < all && operands[n] ? LLVMValueAsMetadata(operands[n]) : NULL;
    free(operands);
    return found;
}

/* The C interface reads no subprogram; its operands, which it does read, are file, scope, name, name for the linker,
 * type, unit and declaration. */
static LLVMMetadataRef copy_subprogram(struct cloning *c)
{
    enum { FILE_AT, SCOPE_AT, NAME_AT, LINKAGE_AT, TYPE_AT, UNIT_AT, DECLARATION_AT, COPIED };
    LLVMMetadataRef old = c->from_scope, file = operand_of(c, old, FILE_AT);
    unsigned line = LLVMDISubprogramGetLine(old);
    LLVMMetadataRef made =
        LLVMDIBuilderCreateFunction(c->debug, file, "", 0, "", 0, file, line,
                                    LLVMDIBuilderCreateSubroutineType(c->debug, file, NULL, 0, LLVMDIFlagZero), true,
                                    true, line, LLVMDIFlagZero, true);
    for (unsigned n = SCOPE_AT; n < COPIED; n++)
        LLVMReplaceMDNodeOperandWith(LLVMMetadataAsValue(c->context, made), n, operand_of(c, old, n));
    return made;
}

/* Scopes inside of the function are cloned up to its subprogram; others are shared. */
static LLVMMetadataRef copy_scope(struct cloning *c, LLVMMetadataRef scope)
{
    if (scope == c->from_scope)
        return c->to_scope;
    LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
    if (kind != LLVMDILexicalBlockMetadataKind && kind != LLVMDILexicalBlockFileMetadataKind)
        return scope;
    LLVMMetadataRef made = dh_ptr_map_find(&c->scopes, scope);
    if (made)
        return made;
    enum { FILE_AT, PARENT_AT };
    LLVMMetadataRef parent = operand_of(c, scope, PARENT_AT), copied = parent ? copy_scope(c, parent) : NULL;
    made = copied && copied != parent
               ? LLVMDIBuilderCreateLexicalBlock(c->debug, copied, operand_of(c, scope, FILE_AT), 0, 0)
               : scope;
    *dh_ptr_map_at(&c->scopes, scope) = made;
    return made;
}

static LLVMMetadataRef copy_location(struct cloning *c, LLVMMetadataRef at)
{
    LLVMMetadataRef outer = LLVMDILocationGetInlinedAt(at);
    LLVMMetadataRef scope = LLVMDILocationGetScope(at);
    return LLVMDIBuilderCreateDebugLocation(c->context, LLVMDILocationGetLine(at), LLVMDILocationGetColumn(at),
                                            outer ? scope : copy_scope(c, scope),
                                            outer ? copy_location(c, outer) : NULL);
}

/* ---- bodies ---- */

static LLVMValueRef copied(struct cloning *c, LLVMValueRef v)
{
    LLVMValueRef to = dh_ptr_map_find(&c->values, v);
    return to ? to : v;
}

/* Loop metadata: its first operand is the node itself, then properties, among them start and end locations, whose
 * scopes must belong to the clone. A self-referential node is distinct. */
static void copy_loop(struct cloning *c, LLVMValueRef to)
{
    LLVMValueRef old = LLVMGetMetadata(to, c->loop_kind);
    unsigned n = old ? (unsigned)LLVMGetMDNodeNumOperands(old) : 0;
    if (!n)
        return;
    LLVMValueRef *was = dh_xcalloc(n, sizeof *was);
    LLVMMetadataRef *now = dh_xcalloc(n, sizeof(LLVMMetadataRef));
    LLVMGetMDNodeOperands(old, was);
    now[0] = LLVMMDStringInContext2(c->context, "itself", strlen("itself"));
    for (unsigned k = 1; k < n; k++) {
        LLVMMetadataRef one = was[k] ? LLVMValueAsMetadata(was[k]) : NULL;
        now[k] = one && LLVMGetMetadataKind(one) == LLVMDILocationMetadataKind ? copy_location(c, one) : one;
    }
    LLVMMetadataRef node = LLVMMDNodeInContext2(c->context, now, n);
    LLVMReplaceMDNodeOperandWith(LLVMMetadataAsValue(c->context, node), 0, node);
    LLVMSetMetadata(to, c->loop_kind, LLVMMetadataAsValue(c->context, node));
    free(was);
    free(now);
}

static void copy_metadata(LLVMContextRef context, LLVMValueRef from, LLVMValueRef to)
{
    size_t n;
    LLVMValueMetadataEntry *all = LLVMInstructionGetAllMetadataOtherThanDebugLoc(from, &n);
    for (unsigned k = 0; k < n; k++)
        LLVMSetMetadata(to, LLVMValueMetadataEntriesGetKind(all, k),
                        LLVMMetadataAsValue(context, LLVMValueMetadataEntriesGetMetadata(all, k)));
    LLVMDisposeValueMetadataEntries(all);
}

/* The C interface cannot change incoming blocks of a copied phi: it is created empty and filled when all values
 * exist. */
static LLVMValueRef begin_phi(struct cloning *c, LLVMValueRef phi)
{
    LLVMValueRef to = LLVMBuildPhi(c->builder, LLVMTypeOf(phi), "");
    copy_metadata(c->context, phi, to);
    if (LLVMCanValueUseFastMathFlags(phi))
        LLVMSetFastMathFlags(to, LLVMGetFastMathFlags(phi));
    return to;
}

static void copy_instruction(struct cloning *c, LLVMValueRef i)
{
    LLVMMetadataRef at = LLVMInstructionGetDebugLoc(i);
    LLVMValueRef to;
    if (LLVMIsADbgInfoIntrinsic(i))
        return;
    if (LLVMIsAPHINode(i)) {
        to = begin_phi(c, i);
    } else {
        to = LLVMInstructionClone(i);
        LLVMInsertIntoBuilder(c->builder, to);
    }
    LLVMInstructionSetDebugLoc(to, at ? copy_location(c, at) : NULL);
    if (LLVMHasMetadata(to))
        copy_loop(c, to);
    *dh_ptr_map_at(&c->values, i) = to;
}

static void finish_phi(struct cloning *c, LLVMValueRef from, LLVMValueRef to)
{
    for (unsigned n = 0; n < LLVMCountIncoming(from); n++) {
        LLVMValueRef value = copied(c, LLVMGetIncomingValue(from, n));
        LLVMValueRef block = copied(c, LLVMBasicBlockAsValue(LLVMGetIncomingBlock(from, n)));
        LLVMBasicBlockRef incoming = LLVMValueAsBasicBlock(block);
        LLVMAddIncoming(to, &value, &incoming, 1);
    }
}

static void finish_instruction(struct cloning *c, LLVMValueRef i)
{
    LLVMValueRef to = dh_ptr_map_find(&c->values, i);
    if (!to)
        return;
    if (LLVMIsAPHINode(i)) {
        finish_phi(c, i, to);
        return;
    }
    for (int n = 0; n < LLVMGetNumOperands(to); n++) {
        LLVMValueRef was = LLVMGetOperand(to, (unsigned)n), now = was ? dh_ptr_map_find(&c->values, was) : NULL;
        if (now)
            LLVMSetOperand(to, (unsigned)n, now);
    }
}

static void copy_body(struct cloning *c)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(c->from); b; b = LLVMGetNextBasicBlock(b))
        *dh_ptr_map_at(&c->values, LLVMBasicBlockAsValue(b)) =
            LLVMBasicBlockAsValue(LLVMAppendBasicBlockInContext(c->context, c->to, ""));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(c->from); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMPositionBuilderAtEnd(c->builder, LLVMValueAsBasicBlock(copied(c, LLVMBasicBlockAsValue(b))));
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            copy_instruction(c, i);
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(c->from); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            finish_instruction(c, i);
}

/* ---- heads ---- */

static void copy_attributes_at(struct cloning *c, LLVMAttributeIndex at)
{
    unsigned n = LLVMGetAttributeCountAtIndex(c->from, at);
    LLVMAttributeRef *all = dh_xcalloc(n + 1, sizeof(LLVMAttributeRef));
    LLVMGetAttributesAtIndex(c->from, at, all);
    for (unsigned k = 0; k < n; k++)
        LLVMAddAttributeAtIndex(c->to, at, all[k]);
    free(all);
}

static void copy_function_metadata(struct cloning *c)
{
    size_t n;
    LLVMValueMetadataEntry *all = LLVMGlobalCopyAllMetadata(c->from, &n);
    for (unsigned k = 0; k < n; k++) {
        LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(all, k);
        if (LLVMGetMetadataKind(node) != LLVMDISubprogramMetadataKind)
            LLVMGlobalSetMetadata(c->to, LLVMValueMetadataEntriesGetKind(all, k), node);
    }
    LLVMDisposeValueMetadataEntries(all);
}

static void copy_head(struct cloning *c)
{
    const LLVMAttributeIndex function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMSetLinkage(c->to, LLVMInternalLinkage);
    LLVMSetFunctionCallConv(c->to, LLVMGetFunctionCallConv(c->from));
    LLVMSetAlignment(c->to, LLVMGetAlignment(c->from));
    LLVMSetUnnamedAddress(c->to, LLVMGetUnnamedAddress(c->from));
    if (LLVMGetSection(c->from))
        LLVMSetSection(c->to, LLVMGetSection(c->from));
    if (LLVMGetGC(c->from))
        LLVMSetGC(c->to, LLVMGetGC(c->from));
    if (LLVMHasPersonalityFn(c->from))
        LLVMSetPersonalityFn(c->to, LLVMGetPersonalityFn(c->from));
    copy_attributes_at(c, function);
    copy_attributes_at(c, LLVMAttributeReturnIndex);
    for (unsigned n = 0; n < LLVMCountParams(c->from); n++) {
        copy_attributes_at(c, n + 1);
        *dh_ptr_map_at(&c->values, LLVMGetParam(c->from, n)) = LLVMGetParam(c->to, n);
    }
    copy_function_metadata(c);
    if (c->from_scope) {
        c->to_scope = copy_subprogram(c);
        LLVMSetSubprogram(c->to, c->to_scope);
    }
}

LLVMValueRef dh_ir_clone(LLVMValueRef function, const char *name)
{
    LLVMModuleRef m = LLVMGetGlobalParent(function);
    struct cloning c = {.module = m, .context = LLVMGetModuleContext(m), .from = function};
    c.builder = LLVMCreateBuilderInContext(c.context);
    c.debug = LLVMCreateDIBuilder(m);
    c.from_scope = LLVMGetSubprogram(function);
    c.loop_kind = LLVMGetMDKindIDInContext(c.context, "llvm.loop", strlen("llvm.loop"));
    c.to = LLVMAddFunction(m, name, LLVMGlobalGetValueType(function));
    copy_head(&c);
    copy_body(&c);
    LLVMDisposeDIBuilder(c.debug);
    LLVMDisposeBuilder(c.builder);
    dh_ptr_map_release(&c.values);
    dh_ptr_map_release(&c.scopes);
    return c.to;
}
