/* LLVM's pass pipelines, by name and optimisation level. Layer: driver (LLVM). */
#ifndef DH_DRIVER_PASSES_H
#define DH_DRIVER_PASSES_H

#include "host/err.h"

#include <llvm-c/Core.h>

/* A level of ours: as little as keeps the code small, for variants that must be there soon. */
#define DH_LEVEL_QUICK 'q'

bool dh_passes_run(LLVMModuleRef m, const char *passes, struct dh_err *err);

/* SROA: locals become registers, so that the loads and stores left are of memory that threads may share. Sites are
 * numbered after this. */
bool dh_passes_promote(LLVMModuleRef m, struct dh_err *err);
/* Inlining and scalar simplification; late hooks are placed after this. */
bool dh_passes_simplify(LLVMModuleRef m, char level, struct dh_err *err);
/* Coverage counters of -fprofile-arcs and -fprofile-instr-generate; after hooks were placed, so that
 * the counters, which are never synchronised, are no sites. */
bool dh_passes_coverage(LLVMModuleRef m, struct dh_err *err);
/* Inlines hooks, vectorises and finishes the pipeline; with `asan`, AddressSanitizer's pass follows. */
bool dh_passes_optimise(LLVMModuleRef m, char level, bool asan, struct dh_err *err);

#endif
