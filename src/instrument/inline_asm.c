#include "instrument/inline_asm.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Mnemonics that neither access memory nor synchronise. */
static const char *const harmless[] = {"pause", "nop", "rep", "rdtsc", "rdtscp", "cpuid", "lfence", "sfence", "rdpid"};
/* A locked operation that changes nothing at the top of the stack is the fence of older processors and kernels. */
static const char *const idle[] = {"addl", "addq", "orl", "orq", "add", "or"};

struct word {
    const char *at;
    size_t n;
};

static bool is_one_of(struct word w, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(list[i]) == w.n && !strncmp(list[i], w.at, w.n))
            return true;
    return false;
}
#define IS_ONE_OF(w, list) is_one_of(w, list, sizeof(list) / sizeof *(list))

static bool word_is(struct word w, const char *text)
{
    return is_one_of(w, &text, 1);
}

static struct word next_word(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    struct word w = {at, 0};
    while (at + w.n < end && !isspace((unsigned char)at[w.n]))
        w.n++;
    return w;
}

/* "$$0, 0(%rsp)": adds nothing, to the stack. */
static bool is_idle_operand(const char *at, const char *end)
{
    struct word w = next_word(at, end);
    size_t n = (size_t)(end - at);
    bool zero = w.n > 3 && (!strncmp(w.at, "$$0,", 4) || !strncmp(w.at, "$$0x0,", 6));
    return zero && (memmem(at, n, "sp)", 3) || memmem(at, n, "[rsp", 4));
}

/* One statement, without what ends it. */
static enum dh_inline_asm_effect statement(const char *at, const char *end, bool *locked)
{
    struct word w = next_word(at, end);
    bool was_locked = *locked;
    *locked = false;
    if (word_is(w, "lock")) {
        was_locked = true;
        w = next_word(w.at + w.n, end);
        *locked = w.n == 0;
    }
    if (w.n == 0 || w.at[0] == '#' || IS_ONE_OF(w, harmless))
        return DH_INLINE_ASM_NONE;
    if (word_is(w, "mfence") || (was_locked && IS_ONE_OF(w, idle) && is_idle_operand(w.at + w.n, end)))
        return DH_INLINE_ASM_FENCE;
    return DH_INLINE_ASM_UNKNOWN;
}

static enum dh_inline_asm_effect effect_of_text(const char *text, size_t n)
{
    enum dh_inline_asm_effect most = DH_INLINE_ASM_NONE;
    const char *end = text + n;
    bool locked = false;
    while (text < end) {
        const char *stop = text;
        while (stop < end && *stop != '\n' && *stop != ';')
            stop++;
        enum dh_inline_asm_effect e = statement(text, stop, &locked);
        most = e > most ? e : most;
        text = stop + 1;
    }
    return most;
}

/* Without a memory operand, clobber or pointer it has nothing to reach memory with. */
static bool sees_memory(LLVMValueRef call, LLVMValueRef assembly)
{
    size_t n;
    const char *constraints = LLVMGetInlineAsmConstraintString(assembly, &n);
    if (memmem(constraints, n, "~{memory}", 9) || memchr(constraints, '*', n))
        return true;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, i))) == LLVMPointerTypeKind)
            return true;
    return false;
}

enum dh_inline_asm_effect dh_inline_asm_effect(LLVMValueRef call)
{
    LLVMValueRef assembly = LLVMGetCalledValue(call);
    size_t n;
    const char *text = LLVMGetInlineAsmAsmString(assembly, &n);
    return sees_memory(call, assembly) ? effect_of_text(text, n) : DH_INLINE_ASM_NONE;
}
