#include "ir/site_scopes.h"

#include "base/alloc.h"
#include "ir/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOMAIN "dh.site"
#define KIND "alias.scope"
#define EXEMPTION "dh.spared"

static unsigned kind_of(LLVMContextRef c)
{
    return LLVMGetMDKindIDInContext(c, KIND, strlen(KIND));
}

static LLVMContextRef context_of(LLVMValueRef instruction)
{
    return LLVMGetTypeContext(LLVMTypeOf(instruction));
}

/* ---- exemptions ---- */

void dh_ir_set_exemption(LLVMValueRef instruction, unsigned exemption)
{
    LLVMContextRef c = context_of(instruction);
    LLVMValueRef number = LLVMConstInt(LLVMInt32TypeInContext(c), exemption, false);
    LLVMMetadataRef operand = LLVMValueAsMetadata(number);
    LLVMSetMetadata(instruction, LLVMGetMDKindIDInContext(c, EXEMPTION, strlen(EXEMPTION)),
                    LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, &operand, 1)));
}

unsigned dh_ir_exemption(LLVMValueRef instruction)
{
    LLVMValueRef number, node;
    if (!LLVMHasMetadata(instruction))
        return 0;
    node =
        LLVMGetMetadata(instruction, LLVMGetMDKindIDInContext(context_of(instruction), EXEMPTION, strlen(EXEMPTION)));
    if (!node || LLVMGetMDNodeNumOperands(node) != 1)
        return 0;
    LLVMGetMDNodeOperands(node, &number);
    return number && LLVMIsAConstantInt(number) ? (unsigned)LLVMConstIntGetZExtValue(number) : 0;
}

/* ---- adding scopes ---- */

/* Inlining passes the scopes of a call on to everything in the callee: only calls that stay calls may have one. */
static bool may_have_scope(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr: {
        LLVMValueRef called = LLVMGetCalledValue(i), f = LLVMIsAFunction(called);
        return LLVMIsAInlineAsm(called) || (f && LLVMIsDeclaration(f));
    }
    case LLVMFence:
        return false; /* never merged with another */
    default:
        return true;
    }
}

/* Nodes are uniqued by their text, so the copies that inlining makes of scopes are the same scopes. */
static LLVMMetadataRef scope_of(LLVMContextRef c, LLVMMetadataRef domain, uint32_t site)
{
    char text[16];
    int n = snprintf(text, sizeof text, "%u", site);
    LLVMMetadataRef operands[] = {LLVMMDStringInContext2(c, text, (size_t)n), domain};
    return LLVMMDNodeInContext2(c, operands, 2);
}

static void add_scope(LLVMValueRef i, LLVMContextRef c, unsigned kind, LLVMMetadataRef domain)
{
    uint32_t site = dh_ir_site_of(i);
    if (site == DH_NO_SITE || !may_have_scope(i))
        return;
    uint32_t carried = site | (uint32_t)dh_ir_exemption(i) << DH_MERGED_SITE_BITS;
    LLVMMetadataRef inner[1] = {scope_of(c, domain, carried)}, *scopes = inner;
    LLVMValueRef before = LLVMGetMetadata(i, kind);
    unsigned n = before ? LLVMGetMDNodeNumOperands(before) : 0;
    if (n) {
        LLVMValueRef *values = dh_xmalloc(n * sizeof *values);
        scopes = dh_xmalloc((n + 1) * sizeof(LLVMMetadataRef));
        LLVMGetMDNodeOperands(before, values);
        for (unsigned k = 0; k < n; k++)
            scopes[k] = LLVMValueAsMetadata(values[k]);
        scopes[n] = inner[0];
        free(values);
    }
    LLVMSetMetadata(i, kind, LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, scopes, n + 1)));
    if (scopes != inner)
        free(scopes);
}

void dh_ir_add_site_scopes(LLVMModuleRef m)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    LLVMMetadataRef name = LLVMMDStringInContext2(c, DOMAIN, strlen(DOMAIN));
    LLVMMetadataRef domain = LLVMMDNodeInContext2(c, &name, 1);
    unsigned kind = kind_of(c);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
                add_scope(i, c, kind, domain);
}

/* ---- reading scopes ---- */

struct list {
    LLVMValueRef *scopes;
    unsigned n;
};

static struct list scopes_of(LLVMValueRef instruction)
{
    struct list l = {0};
    LLVMValueRef node =
        LLVMHasMetadata(instruction) ? LLVMGetMetadata(instruction, kind_of(context_of(instruction))) : NULL;
    if (!node || !LLVMGetMDNodeNumOperands(node))
        return l;
    l.n = LLVMGetMDNodeNumOperands(node);
    l.scopes = dh_xmalloc(l.n * sizeof *l.scopes);
    LLVMGetMDNodeOperands(node, l.scopes);
    return l;
}

static bool is_text(LLVMValueRef node, const char *wanted)
{
    unsigned n;
    const char *text = node ? LLVMGetMDString(node, &n) : NULL;
    return text && n == strlen(wanted) && memcmp(text, wanted, n) == 0;
}

static bool is_node(LLVMValueRef v, unsigned operands)
{
    return v && LLVMIsAMDNode(v) && LLVMGetMDNodeNumOperands(v) == operands;
}

/* The site a scope stands for, DH_NO_SITE when it is none of ours. */
static uint32_t site_of_scope(LLVMValueRef scope)
{
    LLVMValueRef operands[2], name;
    if (!is_node(scope, 2))
        return DH_NO_SITE;
    LLVMGetMDNodeOperands(scope, operands);
    if (!is_node(operands[1], 1))
        return DH_NO_SITE;
    LLVMGetMDNodeOperands(operands[1], &name);
    unsigned n;
    const char *digits = is_text(name, DOMAIN) ? LLVMGetMDString(operands[0], &n) : NULL;
    char text[16];
    if (!digits || n >= sizeof text)
        return DH_NO_SITE;
    memcpy(text, digits, n);
    text[n] = '\0';
    return (uint32_t)strtoul(text, NULL, 10);
}

static int compare_sites(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

unsigned dh_ir_merged_sites_with_exemptions(LLVMValueRef instruction, uint32_t *sites, unsigned most)
{
    struct list l = scopes_of(instruction);
    unsigned n = 0;
    for (unsigned i = 0; i < l.n && n < most; i++) {
        uint32_t site = site_of_scope(l.scopes[i]);
        if (site != DH_NO_SITE)
            sites[n++] = site;
    }
    free(l.scopes);
    if (n)
        qsort(sites, n, sizeof *sites, compare_sites);
    return n;
}

unsigned dh_ir_merged_sites(LLVMValueRef instruction, uint32_t *sites, unsigned most)
{
    unsigned n = dh_ir_merged_sites_with_exemptions(instruction, sites, most), once = 0;
    for (unsigned i = 0; i < n; i++)
        sites[i] = dh_merged_site(sites[i]);
    if (n)
        qsort(sites, n, sizeof *sites, compare_sites);
    for (unsigned i = 0; i < n; i++)
        if (!i || sites[i] != sites[i - 1])
            sites[once++] = sites[i];
    return once;
}

void dh_ir_drop_site_scopes(LLVMValueRef instruction)
{
    struct list l = scopes_of(instruction);
    if (!l.n)
        return;
    LLVMContextRef c = context_of(instruction);
    LLVMMetadataRef *others = dh_xmalloc(l.n * sizeof(LLVMMetadataRef));
    unsigned n = 0;
    for (unsigned i = 0; i < l.n; i++)
        if (site_of_scope(l.scopes[i]) == DH_NO_SITE)
            others[n++] = LLVMValueAsMetadata(l.scopes[i]);
    if (n < l.n)
        LLVMSetMetadata(instruction, kind_of(c), n ? LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, others, n)) : NULL);
    free(others);
    free(l.scopes);
}
