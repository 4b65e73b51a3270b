/* Makes function clones (003 §7.3): copies of functions for calling contexts in which more accesses are proven race
 * free. Layer: driver (LLVM). Functions and calls are identified by their order in the module, so that choices made at
 * the link hold for the embedded module. Originals stay: calls by address or from elsewhere get the fully checked one.
 */
#ifndef DH_DRIVER_APPLY_CLONES_H
#define DH_DRIVER_APPLY_CLONES_H

#include "analysis/function_clones.h"
#include "base/str.h"

#include <llvm-c/Core.h>

struct dh_clone_proof {
    uint32_t copy, site, safety; /* copy: number of the clone; safety: dh_access_proof, analysis/race_free_proofs.h */
};

struct dh_program_clones {
    const uint32_t *functions; /* by clone: index of its original among functions with a body */
    const struct dh_clone_redirect *redirects;
    const struct dh_clone_proof *marks;
    uint32_t n, n_redirects, n_marks;
    uint32_t n_functions, size, added; /* of the whole program, in functions and instructions; instructions of clones */
};

/* Numbers the calls that can be redirected from `first` on, as site metadata; and removes the numbers. */
void dh_clones_number_calls(LLVMModuleRef m, uint32_t first);
void dh_clones_unnumber_calls(LLVMModuleRef m, uint32_t first);
/* Clones functions and redirects calls of a module with numbers. The array, by clone number - 1, is owned by the
 * caller; NULL when the module is another. */
LLVMValueRef *dh_clones_make(LLVMModuleRef m, const struct dh_program_clones *c);
/* One line for each clone and each redirected call with its source location, for tests. */
void dh_clones_describe(LLVMModuleRef m, const struct dh_program_clones *c, uint32_t n_sites, struct dh_str *out);
/* Numbers, clones, redirects, and marks the accesses that clones need not check. */
void dh_clones_apply(LLVMModuleRef m, const struct dh_program_clones *c, uint32_t n_sites);

#endif
