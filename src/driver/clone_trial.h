/* The trial of function clones: clones are made in a copy of the module, which is analysed again, and clones that
 * yield no further proof are dropped. Layer: driver (LLVM). */
#ifndef DH_DRIVER_CLONE_TRIAL_H
#define DH_DRIVER_CLONE_TRIAL_H

#include "analysis/race_free_proofs.h"
#include "driver/apply_clones.h"
#include "host/err.h"
#include "model/library_models.h"

enum { DH_CLONE_TRIAL_REDIRECTS = 4096, DH_CLONE_TRIAL_PROOFS = 1 << 15 }; /* at most */

/* The result; flat, because it lies in memory shared with the parent. */
struct dh_clone_trial {
    uint32_t n_copies, n_redirects, n_marks, n_functions, size, added;
    uint32_t functions[DH_CLONES_MAX];
    struct dh_clone_redirect redirects[DH_CLONE_TRIAL_REDIRECTS];
    struct dh_clone_proof marks[DH_CLONE_TRIAL_PROOFS];
};

/* By function of the program: whether it can be cloned. Owned by the caller. */
uint8_t *dh_clonable_functions(LLVMModuleRef m, const struct dh_program *p);
/* `first`: the proofs without clones. `m` has call numbers (driver/apply_clones.h) and is not changed. */
void dh_clone_trial_run(struct dh_clone_trial *t, LLVMModuleRef m, const struct dh_library_models *models,
                        const struct dh_program *p, const struct dh_race_free *first,
                        const struct dh_function_clones *wanted, uint64_t also);

#endif
