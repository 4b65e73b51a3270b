#include "driver/used_symbols.h"

#include "base/str.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_symbol_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || (c & 0x80);
}

static void note_words(const char *text, size_t n, struct dh_names *words)
{
    struct dh_str word = {0};
    for (size_t i = 0; i <= n; i++) {
        if (i < n && is_symbol_letter(text[i])) {
            dh_str_add_n(&word, text + i, 1);
            continue;
        }
        if (word.n)
            dh_names_add(words, word.at);
        dh_str_clear(&word);
    }
    dh_str_release(&word);
}

static void note_function(LLVMValueRef f, struct dh_names *words)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMOpcode op = LLVMGetInstructionOpcode(i);
            if (op != LLVMCall && op != LLVMInvoke && op != LLVMCallBr)
                continue;
            LLVMValueRef callee = LLVMGetCalledValue(i);
            size_t n;
            if (LLVMIsAInlineAsm(callee)) {
                const char *text = LLVMGetInlineAsmAsmString(callee, &n);
                note_words(text, n, words);
            }
        }
}

void dh_collect_assembly_symbols(LLVMModuleRef m, struct dh_names *words)
{
    size_t n;
    const char *text = LLVMGetModuleInlineAsm(m, &n);
    note_words(text, n, words);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        note_function(f, words);
}

typedef DH_VEC(LLVMValueRef) values;

static bool is_kept(LLVMValueRef v, const struct dh_names *native, const struct dh_names *words)
{
    size_t n;
    const char *name = LLVMGetValueName2(v, &n);
    if (!n || dh_starts_with(name, "llvm."))
        return false;
    if (dh_names_has(words, name))
        return true;
    /* What lies in a section of its own may be reached through __start_ and __stop_ symbols. */
    const char *section = LLVMGetSection(v);
    bool reachable_otherwise = !LLVMGetFirstUse(v) || (section && *section);
    return LLVMGetLinkage(v) == LLVMInternalLinkage && reachable_otherwise && dh_names_has(native, name);
}

static void add_to_used(LLVMModuleRef m, const values *kept)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(c, 0);
    LLVMValueRef array = LLVMConstArray2(pointer, kept->at, kept->n);
    LLVMValueRef used = LLVMAddGlobal(m, LLVMTypeOf(array), "llvm.compiler.used");
    LLVMSetLinkage(used, LLVMAppendingLinkage);
    LLVMSetSection(used, "llvm.metadata");
    LLVMSetInitializer(used, array);
}

void dh_mark_used_symbols(LLVMModuleRef unit, const struct dh_names *native)
{
    struct dh_names words = {0};
    values kept = {0};
    if (LLVMGetNamedGlobal(unit, "llvm.compiler.used"))
        return;
    dh_collect_assembly_symbols(unit, &words);
    for (LLVMValueRef f = LLVMGetFirstFunction(unit); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMAvailableExternallyLinkage && is_kept(f, native, &words))
            dh_vec_push(&kept, f);
    for (LLVMValueRef g = LLVMGetFirstGlobal(unit); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetInitializer(g) && LLVMGetLinkage(g) != LLVMAvailableExternallyLinkage && is_kept(g, native, &words))
            dh_vec_push(&kept, g);
    if (kept.n)
        add_to_used(unit, &kept);
    dh_vec_release(&kept);
    dh_names_release(&words);
}
