/* Leaves out of a plan what the analysis of the whole program proves to be safe (003 §7.1.4). Layer: driver (LLVM).
 * What is proven does not depend on the plan and travels with the program (docs/formats/container.md, part "safe").
 * Libraries are open: who loads them may do anything with what they export, so everything stays. */
#ifndef DH_DRIVER_SPARSE_H
#define DH_DRIVER_SPARSE_H

#include "driver/apply_clones.h"
#include "event/plan.h"
#include "event/site.h"
#include "host/err.h"
#include "host/file.h"
#include "image/container.h"

#include <llvm-c/Core.h>

/* Analyses the module, which is not changed, in a child: nothing it does can fail the caller. What it learned, also
 * that it gave up and why, as the part holds it. `also`: see analysis/race_free_proofs.h. `asked`: somebody waits for
 * it; else it is for every link and must cost little, so that large programs have everything watched. */
struct dh_bytes dh_sparse_analyse(LLVMModuleRef m, const struct dh_site_table *t, uint64_t also, bool asked);
/* The same of a program's embedded module; `copies`: its copies in words (driver/apply_clones.h). */
bool dh_sparse_analyse_program(const struct dh_container *c, const struct dh_site_table *t, uint64_t also,
                               struct dh_bytes *part, struct dh_str *copies, struct dh_err *err);

struct dh_sparse_proofs {
    const uint8_t *of_site; /* dh_safety, analysis/race_free_proofs.h */
    uint32_t n_sites, accesses, race, private, unit;
    const char *gave_up; /* "" = no */
    struct dh_program_clones copies;
};
/* Points into the part; false when it is damaged. */
bool dh_sparse_read(const struct dh_bytes *part, struct dh_sparse_proofs *facts);

/* Whether the plan leaves anything out at all. */
bool dh_sparse_wanted(const struct dh_plan *plan);
/* plan->bits is made when there is none; whoever made it owns it. */
void dh_sparse_apply(const struct dh_sparse_proofs *facts, const struct dh_site_table *t, struct dh_plan *plan);
/* Then: functions get their copies, if the plan is for them. */
void dh_sparse_apply_clones(const struct dh_sparse_proofs *facts, const struct dh_plan *plan, LLVMModuleRef m);

#endif
