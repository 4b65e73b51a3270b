/* Classifies the effect of inline assembly on memory and order by its text. Layer: instrument. Stateless. */
#ifndef DH_INSTRUMENT_INLINE_ASM_H
#define DH_INSTRUMENT_INLINE_ASM_H

#include <llvm-c/Core.h>

enum dh_inline_asm_effect {
    DH_INLINE_ASM_NONE,   /* compiler barriers, pauses, clocks: nothing that other threads could notice */
    DH_INLINE_ASM_FENCE,  /* a full fence and nothing else */
    DH_INLINE_ASM_UNKNOWN /* may access memory or synchronise */
};

enum dh_inline_asm_effect dh_inline_asm_effect(LLVMValueRef call);

#endif
