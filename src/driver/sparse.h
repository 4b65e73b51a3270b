/* Sparse instrumentation (003 §7.1.4): a plan does not check accesses that whole-program analysis proves race free.
 * Layer: driver (LLVM). Proofs do not depend on the plan and are embedded in the program (docs/formats/container.md,
 * part "safe"). Shared libraries are checked fully: programs unknown at the link may use what they export. */
#ifndef DH_DRIVER_SPARSE_H
#define DH_DRIVER_SPARSE_H

#include "driver/apply_clones.h"
#include "event/plan.h"
#include "event/site.h"
#include "host/err.h"
#include "host/file.h"
#include "image/container.h"

#include <llvm-c/Core.h>

/* Analyses the module, which is not changed, in a child, so that a crash does not fail the caller. Returns the part's
 * bytes: the proofs, or why the analysis gave up. `also`: see analysis/race_free_proofs.h. `asked`: the user asked for
 * it; otherwise large programs are not analysed, to keep links fast, and are checked fully. */
struct dh_bytes dh_sparse_analyse(LLVMModuleRef m, const struct dh_site_table *t, uint64_t also, bool asked);
/* The same of a program's embedded module; `copies` gets a description of its clones (driver/apply_clones.h). */
bool dh_sparse_analyse_program(const struct dh_container *c, const struct dh_site_table *t, uint64_t also,
                               struct dh_bytes *part, struct dh_str *copies, struct dh_err *err);

struct dh_sparse_proofs {
    const uint8_t *of_site; /* dh_access_proof, analysis/race_free_proofs.h */
    uint32_t n_sites, accesses, race, private, consistent;
    const char *gave_up; /* "" = no */
    struct dh_program_clones copies;
};
/* Points into the part; false when it is damaged. */
bool dh_sparse_read(const struct dh_bytes *part, struct dh_sparse_proofs *proofs);

/* Whether the plan is sparse at all. */
bool dh_sparse_wanted(const struct dh_plan *plan);
/* Clears plan->bits of sites with proofs. plan->bits is replaced by a new array, which the caller frees. */
void dh_sparse_apply(const struct dh_sparse_proofs *proofs, const struct dh_site_table *t, struct dh_plan *plan);
/* After that: makes the function clones, if the plan wants them. */
void dh_sparse_apply_clones(const struct dh_sparse_proofs *proofs, const struct dh_plan *plan, LLVMModuleRef m);

#endif
