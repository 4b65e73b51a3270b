/* A program that defines malloc itself: calls from libc and the dynamic linker pass by a door, where the engine serves
 * those that are made on its behalf. Layer: instrument. */
#ifndef DH_INSTRUMENT_OWN_ALLOCATOR_H
#define DH_INSTRUMENT_OWN_ALLOCATOR_H

#include <llvm-c/Core.h>

/* Of an executable. The program's own calls stay as they are. */
void dh_own_allocator_divert(LLVMModuleRef m);

#endif
