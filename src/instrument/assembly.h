/* What inline assembly does as far as its text tells. Layer: instrument. Stateless. */
#ifndef DH_INSTRUMENT_ASSEMBLY_H
#define DH_INSTRUMENT_ASSEMBLY_H

#include <llvm-c/Core.h>

enum dh_assembly_effect {
    DH_ASSEMBLY_NONE,   /* compiler barriers, pauses, clocks: nothing that other threads could notice */
    DH_ASSEMBLY_FENCE,  /* a full fence and nothing else */
    DH_ASSEMBLY_UNKNOWN /* may access memory or synchronise */
};

enum dh_assembly_effect dh_assembly_effect(LLVMValueRef call);

#endif
