#include "driver/partition.h"

#include "base/alloc.h"
#include "base/set.h"
#include "base/str.h"

#include <llvm-c/Comdat.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALLEST_PART = 12000, /* instructions; below, a second process costs more than it saves */
    GROWTH = 3             /* by hooks, about */
};

struct planning {
    LLVMModuleRef m;
    struct dh_partition *p;
    struct dh_u64_map parts; /* by function with a body */
};

static unsigned part_of(const struct planning *g, LLVMValueRef f)
{
    const uint64_t *part = dh_u64_map_find(&g->parts, (uintptr_t)f);
    return part ? (unsigned)*part : 0;
}

#define WEIGHT "deadheat-weight"

/* As it was weighed, or by what is in it. */
static size_t instructions(LLVMValueRef f)
{
    size_t n = 0;
    LLVMAttributeRef weight =
        LLVMGetStringAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, WEIGHT, sizeof WEIGHT - 1);
    unsigned length;
    if (weight)
        return strtoul(LLVMGetStringAttributeValue(weight, &length), NULL, 10);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            n++;
    return n;
}

static bool is_assembly(LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    return (op == LLVMCall || op == LLVMInvoke || op == LLVMCallBr) && LLVMIsAInlineAsm(LLVMGetCalledValue(i));
}

/* Block addresses bind a function to the table that holds them; assembly may name local symbols in its text. */
static bool is_bound(LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMIndirectBr || is_assembly(i))
                return true;
    return false;
}

/* Functions a constant leads to must stay where the constant is: aliases, ifuncs, block addresses, llvm.used. */
static void pin(struct planning *g, LLVMValueRef v, unsigned depth)
{
    if (!v || depth > 64)
        return;
    if (LLVMIsAFunction(v)) {
        uint64_t *part = dh_u64_map_find(&g->parts, (uintptr_t)v);
        if (part)
            *part = 0;
        return;
    }
    if (LLVMIsABlockAddress(v)) {
        pin(g, LLVMGetOperand(v, 0), depth + 1);
        return;
    }
    if (LLVMIsAConstantExpr(v) || LLVMIsAConstantArray(v) || LLVMIsAConstantStruct(v))
        for (int i = 0; i < LLVMGetNumOperands(v); i++)
            pin(g, LLVMGetOperand(v, (unsigned)i), depth + 1);
}

/* Looks only for block addresses: an ordinary function pointer in a table binds nothing. */
static void pin_block_addresses(struct planning *g, LLVMValueRef v, unsigned depth)
{
    if (depth > 64)
        return;
    if (LLVMIsABlockAddress(v))
        pin(g, v, 0);
    else if (LLVMIsAConstantExpr(v) || LLVMIsAConstantArray(v) || LLVMIsAConstantStruct(v))
        for (int i = 0; i < LLVMGetNumOperands(v); i++)
            pin_block_addresses(g, LLVMGetOperand(v, (unsigned)i), depth + 1);
}

static void pin_all(struct planning *g)
{
    size_t n;
    for (LLVMValueRef a = LLVMGetFirstGlobalAlias(g->m); a; a = LLVMGetNextGlobalAlias(a))
        pin(g, LLVMAliasGetAliasee(a), 0);
    for (LLVMValueRef f = LLVMGetFirstGlobalIFunc(g->m); f; f = LLVMGetNextGlobalIFunc(f))
        pin(g, LLVMGetGlobalIFuncResolver(f), 0);
    for (LLVMValueRef v = LLVMGetFirstGlobal(g->m); v; v = LLVMGetNextGlobal(v)) {
        LLVMValueRef init = LLVMGetInitializer(v);
        const char *name = LLVMGetValueName2(v, &n);
        if (init && (strcmp(name, "llvm.used") == 0 || strcmp(name, "llvm.compiler.used") == 0))
            pin(g, init, 0);
        else if (init)
            pin_block_addresses(g, init, 0);
    }
}

/* The linker keeps one group of a comdat and drops the others whole: members must not be separated. */
static void pin_shared_comdats(struct planning *g)
{
    struct dh_u64_set seen = {0}, shared = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (LLVMValueRef v = LLVMGetFirstGlobal(g->m); v; v = LLVMGetNextGlobal(v))
            if (!pass && LLVMGetComdat(v))
                dh_u64_set_add_pointer(&shared, LLVMGetComdat(v));
        for (LLVMValueRef f = LLVMGetFirstFunction(g->m); f; f = LLVMGetNextFunction(f)) {
            LLVMComdatRef comdat = LLVMGetComdat(f);
            if (!comdat)
                continue;
            if (pass && dh_u64_set_has_pointer(&shared, comdat))
                pin(g, f, 0);
            else if (!pass && dh_u64_set_has_pointer(&seen, comdat))
                dh_u64_set_add_pointer(&shared, comdat);
            dh_u64_set_add_pointer(&seen, comdat);
        }
    }
    dh_u64_set_release(&seen);
    dh_u64_set_release(&shared);
}

static void assign(struct planning *g, size_t total)
{
    size_t done = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(g->m); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        *dh_u64_map_at(&g->parts, (uintptr_t)f) = is_bound(f) ? 0 : done * g->p->n / (total + 1);
        done += instructions(f);
    }
    pin_all(g);
    pin_shared_comdats(g);
}

/* True when something outside part `part` refers to v. Initialisers live in part 0. */
static bool used_elsewhere(const struct planning *g, LLVMValueRef v, unsigned part, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAInstruction(user)) {
            LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
            if (part_of(g, f) != part)
                return true;
        } else if (LLVMIsAFunction(user)) { /* personality, prefix data */
            if (part_of(g, user) != part)
                return true;
        } else if (LLVMIsAGlobalVariable(user) || LLVMIsAGlobalAlias(user) || LLVMIsAGlobalIFunc(user)) {
            if (part != 0)
                return true;
        } else if (depth > 64 || used_elsewhere(g, user, part, depth + 1))
            return true;
    }
    return false;
}

static bool is_local(LLVMValueRef v)
{
    LLVMLinkage l = LLVMGetLinkage(v);
    return l == LLVMInternalLinkage || l == LLVMPrivateLinkage;
}

/* Every part may have its own copy of a string literal: its address means nothing, and it refers to nothing. */
static bool is_copied(LLVMValueRef v)
{
    LLVMValueRef init = LLVMGetInitializer(v);
    return init && (LLVMIsAConstantDataArray(init) || LLVMIsAConstantAggregateZero(init)) &&
           LLVMGetLinkage(v) == LLVMPrivateLinkage && LLVMIsGlobalConstant(v) &&
           LLVMGetUnnamedAddress(v) == LLVMGlobalUnnamedAddr && !LLVMGetComdat(v);
}

static void make_visible(LLVMValueRef v)
{
    size_t n;
    const char *name = LLVMGetValueName2(v, &n);
    char *unique = dh_format("%s.dh", n ? name : "unnamed");
    LLVMSetLinkage(v, LLVMExternalLinkage);
    LLVMSetVisibility(v, LLVMHiddenVisibility);
    LLVMSetValueName2(v, unique, strlen(unique));
    free(unique);
}

static void expose(struct planning *g)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(g->m); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        unsigned part = part_of(g, f);
        if (is_local(f) && used_elsewhere(g, f, part, 0))
            make_visible(f);
        else if (LLVMGetLinkage(f) == LLVMLinkOnceODRLinkage)
            LLVMSetLinkage(f, LLVMWeakODRLinkage);
        else if (LLVMGetLinkage(f) == LLVMLinkOnceAnyLinkage)
            LLVMSetLinkage(f, LLVMWeakAnyLinkage);
    }
    for (LLVMValueRef v = LLVMGetFirstGlobal(g->m); v; v = LLVMGetNextGlobal(v)) {
        if (!LLVMGetInitializer(v) || is_copied(v))
            continue;
        if (is_local(v) && used_elsewhere(g, v, 0, 0))
            make_visible(v);
        else if (LLVMGetLinkage(v) == LLVMLinkOnceODRLinkage)
            LLVMSetLinkage(v, LLVMWeakODRLinkage);
        else if (LLVMGetLinkage(v) == LLVMLinkOnceAnyLinkage)
            LLVMSetLinkage(v, LLVMWeakAnyLinkage);
    }
}

/* Tests set it, to split small programs. */
static size_t smallest_part(void)
{
    const char *set = getenv("DEADHEAT_SMALLEST_PART");
    long n = set ? strtol(set, NULL, 10) : 0;
    return n > 0 ? (size_t)n : SMALLEST_PART;
}

size_t dh_partition_scaled(size_t n)
{
    return n * smallest_part() / SMALLEST_PART;
}

size_t dh_partition_instructions(LLVMModuleRef m)
{
    size_t total = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        total += instructions(f);
    return total;
}

void dh_partition_weigh(LLVMModuleRef m)
{
    char text[32];
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        int n = snprintf(text, sizeof text, "%zu", GROWTH * instructions(f));
        LLVMAddAttributeAtIndex(
            f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
            LLVMCreateStringAttribute(LLVMGetModuleContext(m), WEIGHT, sizeof WEIGHT - 1, text, (unsigned)n));
    }
}

static unsigned parts_for(size_t total, unsigned least, unsigned most, size_t size)
{
    size_t small = total / smallest_part(), wanted = total / dh_partition_scaled(size);
    wanted = wanted < least ? least : wanted;
    wanted = wanted > small ? small : wanted;
    return wanted < 1 ? 1 : wanted > most ? most : (unsigned)wanted;
}

void dh_partition_split(struct dh_partition *p, LLVMModuleRef m, unsigned least, unsigned most, size_t size)
{
    size_t total = dh_partition_instructions(m), functions = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        functions++;
    *p = (struct dh_partition){.n = parts_for(total, least, most, size)};
    if (p->n == 1)
        return;
    struct planning g = {.m = m, .p = p};
    p->of_function = dh_xcalloc(functions, sizeof *p->of_function);
    assign(&g, total);
    expose(&g);
    size_t i = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        p->of_function[i++] = LLVMIsDeclaration(f) ? 0 : part_of(&g, f);
    dh_u64_map_release(&g.parts);
}

/* An alias or ifunc of part 0 becomes a declaration elsewhere; globaldce removes what is left of it. */
static void replace_by_declaration(LLVMModuleRef m, LLVMValueRef v, const char *suffix)
{
    size_t n;
    char *name = dh_strdup(LLVMGetValueName2(v, &n));
    char *dead = dh_format("%s.%s", name, suffix);
    LLVMSetValueName2(v, dead, strlen(dead));
    LLVMTypeRef type = LLVMGlobalGetValueType(v);
    LLVMValueRef d =
        LLVMGetTypeKind(type) == LLVMFunctionTypeKind ? LLVMAddFunction(m, name, type) : LLVMAddGlobal(m, type, name);
    LLVMSetVisibility(d, LLVMGetVisibility(v));
    LLVMReplaceAllUsesWith(v, d);
    LLVMSetLinkage(v, LLVMInternalLinkage);
    free(name);
    free(dead);
}

static void drop_variables(LLVMModuleRef m)
{
    for (LLVMValueRef v = LLVMGetFirstGlobal(m), next; v; v = next) {
        next = LLVMGetNextGlobal(v);
        if (LLVMGetLinkage(v) == LLVMAppendingLinkage) {
            LLVMDeleteGlobal(v);
            continue;
        }
        if (!LLVMGetInitializer(v) || is_copied(v))
            continue;
        LLVMSetComdat(v, NULL);
        LLVMSetInitializer(v, NULL);
        LLVMSetLinkage(v, LLVMExternalLinkage);
    }
    for (LLVMValueRef a = LLVMGetFirstGlobalAlias(m), next; a; a = next) {
        next = LLVMGetNextGlobalAlias(a);
        replace_by_declaration(m, a, "alias");
    }
    for (LLVMValueRef f = LLVMGetFirstGlobalIFunc(m), next; f; f = next) {
        next = LLVMGetNextGlobalIFunc(f);
        replace_by_declaration(m, f, "ifunc");
        LLVMEraseGlobalIFunc(f);
    }
    LLVMSetModuleInlineAsm2(m, "", 0);
}

void dh_partition_keep(const struct dh_partition *p, LLVMModuleRef m, unsigned k)
{
    if (p->n == 1)
        return;
    size_t i = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f), i++) {
        if (LLVMIsDeclaration(f) || p->of_function[i] == k)
            continue;
        LLVMSetComdat(f, NULL);
        LLVMSetLinkage(f, LLVMAvailableExternallyLinkage);
    }
    if (k)
        drop_variables(m);
}

void dh_partition_release(struct dh_partition *p)
{
    free(p->of_function);
    p->of_function = NULL;
}
