/* Function attributes that instrumentation invalidates (memory, nosync, willreturn, ...). Layer: instrument.
 * Stateless. */
#ifndef DH_INSTRUMENT_ATTRIBUTES_H
#define DH_INSTRUMENT_ATTRIBUTES_H

#include <llvm-c/Core.h>

/* Functions that now call hooks write memory, synchronise and may not return: removes every claim to the contrary
 * from definitions that call anything, and from the calls of them. */
void dh_attributes_relax(LLVMModuleRef m);

#endif
