/* Restores llvm.compiler.used, which clang leaves out of embedded bitcode. Layer: driver (LLVM). A local symbol that
 * the IR does not use but the native object still defines had attribute((used)); so had what inline assembly names. */
#ifndef DH_DRIVER_USED_SYMBOLS_H
#define DH_DRIVER_USED_SYMBOLS_H

#include "base/names.h"

#include <llvm-c/Core.h>
#include <stddef.h>

/* `native` holds every symbol the native object defines, local ones too. Before merging, which renames locals. */
void dh_mark_used_symbols(LLVMModuleRef unit, const struct dh_names *native);
/* Adds every word of assembly text that could be a symbol: module-level and inside functions. */
void dh_collect_assembly_symbols(LLVMModuleRef m, struct dh_names *words);

#endif
