/* Copies of functions for contexts in which less need be watched (003 §7.3), put into a module. Layer: driver (LLVM).
 * Functions and calls are known by where they stand in the module, so that what was learned at the link holds for the
 * module that the program carries. Originals stay as they are: whoever calls them by name or address from elsewhere
 * gets what is watched most. */
#ifndef DH_DRIVER_APPLY_CLONES_H
#define DH_DRIVER_APPLY_CLONES_H

#include "analysis/function_clones.h"
#include "base/str.h"

#include <llvm-c/Core.h>

struct dh_clone_proof {
    uint32_t copy, site, safety; /* dh_safety, analysis/race_free_proofs.h */
};

struct dh_program_clones {
    const uint32_t *functions; /* by copy: which function of those with a body */
    const struct dh_redirect *redirects;
    const struct dh_clone_proof *marks;
    uint32_t n, n_redirects, n_marks;
    uint32_t n_functions, size, added; /* of the whole program, in functions and instructions; what copies add */
};

/* Gives calls that can be redirected numbers from `first` on, in the place of sites; and takes them away. */
void dh_clones_number_calls(LLVMModuleRef m, uint32_t first);
void dh_clones_unnumber_calls(LLVMModuleRef m, uint32_t first);
/* Of a module with numbers. The copies, by number - 1, are the caller's to free; NULL: it is another module. */
LLVMValueRef *dh_clones_make(LLVMModuleRef m, const struct dh_program_clones *c);
/* One line for each copy and for each call that goes to one, by where it stands: for tests that follow a stack. */
void dh_clones_describe(LLVMModuleRef m, const struct dh_program_clones *c, uint32_t n_sites, struct dh_str *out);
/* All of it. */
void dh_clones_apply(LLVMModuleRef m, const struct dh_program_clones *c, uint32_t n_sites);

#endif
