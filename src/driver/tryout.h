/* Tries copies of functions out: of the program that has them, what is safe is proven anew, and copies in which nothing
 * more is safe go again. Layer: driver (LLVM). */
#ifndef DH_DRIVER_TRYOUT_H
#define DH_DRIVER_TRYOUT_H

#include "analysis/race_free_proofs.h"
#include "driver/special.h"
#include "host/err.h"
#include "model/library_models.h"

enum { DH_TRYOUT_REDIRECTS = 4096, DH_TRYOUT_MARKS = 1 << 15 }; /* at most */

/* What came of it; flat, because it goes through memory shared with the parent. */
struct dh_tryout {
    uint32_t n_copies, n_redirects, n_marks, n_functions, size, added;
    uint32_t functions[DH_CLONES_MAX];
    struct dh_clone_redirect redirects[DH_TRYOUT_REDIRECTS];
    struct dh_copy_mark marks[DH_TRYOUT_MARKS];
};

/* By function of the program: whether it can be copied. The caller frees it. */
uint8_t *dh_tryout_copyable(LLVMModuleRef m, const struct dh_program *p);
/* `first`: what is safe without copies. `m` has numbers (driver/special.h) and is not changed. */
void dh_tryout_run(struct dh_tryout *t, LLVMModuleRef m, const struct dh_library_models *models,
                   const struct dh_program *p, const struct dh_race_free *first,
                   const struct dh_function_clones *wanted, uint64_t also);

#endif
