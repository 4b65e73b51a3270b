#include "driver/apply_clones.h"

#include "analysis/race_free_proofs.h"
#include "base/alloc.h"
#include "event/plan.h"
#include "ir/function_clone.h"
#include "ir/site_scopes.h"
#include "ir/sites.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 60 }; /* instructions; LLVM inlines smaller ones however often they are called */

/* ---- numbers of calls ---- */

static unsigned site_kind(LLVMModuleRef m)
{
    return LLVMGetMDKindIDInContext(LLVMGetModuleContext(m), DH_SITE_METADATA, strlen(DH_SITE_METADATA));
}

/* The callee of a direct call, if it has a body. */
static LLVMValueRef called(LLVMValueRef i)
{
    LLVMValueRef f = LLVMIsACallInst(i) || LLVMIsAInvokeInst(i) ? LLVMGetCalledValue(i) : NULL;
    return f && LLVMIsAFunction(f) && !LLVMIsDeclaration(f) ? f : NULL;
}

static bool is_redirectable(LLVMValueRef i)
{
    LLVMValueRef f = called(i);
    return f && LLVMGetCalledFunctionType(i) == LLVMGlobalGetValueType(f) && dh_ir_site_of(i) == DH_NO_SITE;
}

static void set_number(LLVMValueRef i, LLVMModuleRef m, uint32_t number)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    LLVMMetadataRef operand = LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(c), number, false));
    LLVMSetMetadata(i, site_kind(m), LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, &operand, 1)));
}

void dh_clones_number_calls(LLVMModuleRef m, uint32_t first)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (is_redirectable(i))
                    set_number(i, m, first++);
}

void dh_clones_unnumber_calls(LLVMModuleRef m, uint32_t first)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (called(i) && dh_ir_site_of(i) != DH_NO_SITE && dh_ir_site_of(i) >= first)
                    LLVMSetMetadata(i, site_kind(m), NULL);
}

/* ---- cloning and redirecting ---- */

struct module {
    LLVMModuleRef m;
    const struct dh_program_clones *c;
    LLVMValueRef *originals, *copies;    /* by copy */
    struct dh_clone_redirect *redirects; /* sorted */
};

static bool find_originals(struct module *k)
{
    uint32_t n = 0, found = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(k->m); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        for (uint32_t copy = 0; copy < k->c->n; copy++)
            if (k->c->functions[copy] == n && dh_ir_can_clone(f)) {
                k->originals[copy] = f;
                found++;
            }
        n++;
    }
    return found == k->c->n;
}

static int by_call(const void *a, const void *b)
{
    const struct dh_clone_redirect *p = a, *q = b;
    if (p->call != q->call)
        return p->call < q->call ? -1 : 1;
    return (p->caller > q->caller) - (p->caller < q->caller);
}

static void redirect_call(struct module *k, LLVMValueRef i, uint32_t caller)
{
    uint32_t number = called(i) ? dh_ir_site_of(i) : DH_NO_SITE;
    uint32_t first = 0, end = k->c->n_redirects;
    while (first < end && number != DH_NO_SITE) {
        uint32_t middle = first + (end - first) / 2;
        if (by_call(&k->redirects[middle], &(struct dh_clone_redirect){caller, number, 0}) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    for (uint32_t n = first; number != DH_NO_SITE && n < k->c->n_redirects; n++) {
        const struct dh_clone_redirect *r = &k->redirects[n];
        if (r->caller != caller || r->call != number)
            return;
        if (r->copy - 1 >= k->c->n || k->originals[r->copy - 1] != called(i))
            continue;
        LLVMSetOperand(i, (unsigned)LLVMGetNumOperands(i) - 1, k->copies[r->copy - 1]);
        return;
    }
}

static void redirect(struct module *k, LLVMValueRef f, uint32_t caller)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            redirect_call(k, i, caller);
}

static uint32_t caller_number(const struct module *k, LLVMValueRef f)
{
    for (uint32_t n = 0; n < k->c->n; n++)
        if (k->copies[n] == f)
            return n + 1;
    return 0;
}

static bool is_large(LLVMValueRef f)
{
    unsigned n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            n++;
    return n > LARGE;
}

static unsigned attribute(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

/* LLVM inlines a function with one call left whatever its size. Before cloning it had several and was not inlined; its
 * checks were placed for that. */
static void prevent_inlining(LLVMValueRef f)
{
    LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMUseRef use = LLVMGetFirstUse(f);
    bool asked = LLVMGetEnumAttributeAtIndex(f, at, attribute("alwaysinline"));
    if (use && !LLVMGetNextUse(use) && is_large(f) && !asked)
        LLVMAddAttributeAtIndex(
            f, at, LLVMCreateEnumAttribute(LLVMGetModuleContext(LLVMGetGlobalParent(f)), attribute("noinline"), 0));
}

LLVMValueRef *dh_clones_make(LLVMModuleRef m, const struct dh_program_clones *c)
{
    struct module k = {.m = m, .c = c};
    k.originals = dh_xcalloc(c->n, sizeof(LLVMValueRef));
    k.copies = dh_xcalloc(c->n, sizeof(LLVMValueRef));
    k.redirects = dh_xcalloc(c->n_redirects, sizeof *k.redirects);
    memcpy(k.redirects, c->redirects, c->n_redirects * sizeof *k.redirects);
    qsort(k.redirects, c->n_redirects, sizeof *k.redirects, by_call);
    bool ok = find_originals(&k);
    for (uint32_t n = 0; ok && n < c->n; n++) {
        size_t length;
        char *name = dh_format("%s.in%u", LLVMGetValueName2(k.originals[n], &length), n + 1);
        k.copies[n] = dh_ir_clone(k.originals[n], name);
        free(name);
    }
    for (LLVMValueRef f = ok ? LLVMGetFirstFunction(m) : NULL; f; f = LLVMGetNextFunction(f))
        redirect(&k, f, caller_number(&k, f));
    for (uint32_t n = 0; ok && n < c->n; n++) {
        prevent_inlining(k.originals[n]);
        prevent_inlining(k.copies[n]);
    }
    free(k.originals);
    free(k.redirects);
    if (ok)
        return k.copies;
    free(k.copies);
    return NULL;
}

/* ---- description ---- */

static void describe_call(LLVMValueRef i, const struct dh_program_clones *c, struct dh_str *out)
{
    LLVMMetadataRef at = LLVMInstructionGetDebugLoc(i);
    LLVMMetadataRef file = at ? LLVMDIScopeGetFile(LLVMDILocationGetScope(at)) : NULL;
    unsigned length = 0;
    const char *name = file ? LLVMDIFileGetFilename(file, &length) : "?";
    for (uint32_t n = 0; n < c->n_redirects; n++)
        if (called(i) && c->redirects[n].call == dh_ir_site_of(i))
            dh_str_addf(out, "call in %u at %.*s:%u:%u goes to %u\n", c->redirects[n].caller, length ? (int)length : 1,
                        name, at ? LLVMDILocationGetLine(at) : 0, at ? LLVMDILocationGetColumn(at) : 0,
                        c->redirects[n].copy);
}

void dh_clones_describe(LLVMModuleRef m, const struct dh_program_clones *c, uint32_t n_sites, struct dh_str *out)
{
    struct module k = {.m = m, .c = c, .originals = dh_xcalloc(c->n, sizeof(LLVMValueRef))};
    size_t length;
    bool ok = find_originals(&k);
    for (uint32_t n = 0; ok && n < c->n; n++)
        dh_str_addf(out, "copy %u of %s\n", n + 1, LLVMGetValueName2(k.originals[n], &length));
    free(k.originals);
    dh_clones_number_calls(m, n_sites);
    for (LLVMValueRef f = ok ? LLVMGetFirstFunction(m) : NULL; f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                describe_call(i, c, out);
    dh_clones_unnumber_calls(m, n_sites);
}

/* ---- accesses that clones need not check ---- */

static unsigned spared_by(unsigned safety)
{
    return (safety & DH_PROVEN_RACE_FREE ? DH_EXEMPT_RACE : 0u) |
           (safety & DH_PROVEN_PRIVATE ? DH_EXEMPT_CONSISTENCY : 0u) |
           (safety & DH_PROVEN_ORDERED ? DH_EXEMPT_TO_ALIVE : 0u);
}

static bool is_access(LLVMValueRef i)
{
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsAMemIntrinsic(i);
}

/* Proofs of a clone are adjacent. */
static void mark(LLVMValueRef f, uint32_t copy, const struct dh_program_clones *c)
{
    uint32_t first = 0, end;
    while (first < c->n_marks && c->marks[first].copy != copy)
        first++;
    for (end = first; end < c->n_marks && c->marks[end].copy == copy;)
        end++;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            uint32_t site = is_access(i) ? dh_ir_site_of(i) : DH_NO_SITE;
            for (uint32_t n = first; site != DH_NO_SITE && n < end; n++)
                if (c->marks[n].site == site)
                    dh_ir_set_exemption(i, spared_by(c->marks[n].safety));
        }
}

void dh_clones_apply(LLVMModuleRef m, const struct dh_program_clones *c, uint32_t n_sites)
{
    if (!c->n || n_sites >> DH_MERGED_SITE_BITS)
        return;
    dh_clones_number_calls(m, n_sites);
    LLVMValueRef *copies = dh_clones_make(m, c);
    dh_clones_unnumber_calls(m, n_sites);
    for (uint32_t n = 0; copies && n < c->n; n++)
        mark(copies[n], n + 1, c);
    free(copies);
}
