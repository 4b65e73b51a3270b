/* Thread entry functions that the program names directly. Layer: ir. Stateless. */
#ifndef DH_IR_THREAD_ENTRIES_H
#define DH_IR_THREAD_ENTRIES_H

#include "base/names.h"

#include <llvm-c/Core.h>

/* Adds the source names of functions passed to pthread_create, thrd_create or std::thread. */
void dh_ir_thread_entries(LLVMModuleRef m, struct dh_names *entries);

#endif
