/* Whole-program merge: the bitcode of all link inputs becomes one LLVM module. Layer: driver (LLVM). Run it in a child:
 * LLVM's reader crashes on some damaged input. The caller owns context and module. */
#ifndef DH_DRIVER_MERGE_H
#define DH_DRIVER_MERGE_H

#include "base/names.h"
#include "driver/link_inputs.h"
#include "driver/link_line.h"

#include <llvm-c/Core.h>

struct dh_merged {
    LLVMContextRef context;
    LLVMModuleRef module;
    char level;          /* the highest of the inputs */
    struct dh_str units; /* lines "merged NAME", "native NAME", "mixed NAME" */
    size_t n_merged;
};

/* Objects that hold more than their bitcode (ld -r with assembly) lose their level: they are linked natively.
 * NULL module when nothing carries bitcode. */
bool dh_merge(struct dh_merged *m, struct dh_link_inputs *in, const struct dh_link_line *line, struct dh_err *err);
/* LLVM's internalize and globaldce: all symbols but `keep` become local, and unused ones are removed. */
bool dh_internalise(LLVMModuleRef m, const struct dh_names *keep, struct dh_err *err);

/* Parses one module; errors of LLVM come as err. */
LLVMModuleRef dh_parse_bitcode(LLVMContextRef context, const char *name, const void *bytes, size_t n,
                               struct dh_err *err);
/* A context whose diagnostics are collected instead of printed. */
LLVMContextRef dh_context_new(void);

#endif
