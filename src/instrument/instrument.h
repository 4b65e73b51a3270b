/* Inserts hooks into a tagged module as a plan says. Layer: instrument. Needs: tags of dh_ir_number_sites; debug
 * intrinsics in the old format. Late: after simplification, before vectorisation. Exact: right after numbering.
 * Provides: a module that calls the hooks of event/hooks.h. */
#ifndef DH_INSTRUMENT_INSTRUMENT_H
#define DH_INSTRUMENT_INSTRUMENT_H

#include "base/map.h"
#include "base/vec.h"
#include "event/plan.h"
#include "event/site.h"
#include "host/err.h"

#include <llvm-c/Core.h>

/* (site, inlining chain) pairs that late placement met; place id = n_sites + index. */
struct dh_place {
    uint32_t site;  /* DH_NO_SITE when unknown: then the chain begins with the access itself */
    uint32_t chain; /* index into the builder's chains, DH_NO_CHAIN = none */
};

struct dh_places;
struct dh_places *dh_places_new(struct dh_site_builder *sites);
void dh_places_free(struct dh_places *p);
const struct dh_place *dh_places_all(const struct dh_places *p, uint32_t *n);

/* The variable that holds the object of a method scope; between the two steps that place scope hooks. */
struct dh_scope_objects {
    struct dh_u64_map of_site; /* site of the function -> index into variables */
    DH_VEC(LLVMMetadataRef) variables;
};
void dh_scope_objects_release(struct dh_scope_objects *objects);

/* Right after numbering, before anything else: method scopes of functions that may access shared data more than once
 * (event/hooks.h). */
bool dh_instrument_scopes(LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places,
                          struct dh_scope_objects *objects, struct dh_err *err);
/* After simplification: the objects of scopes, where they may be shared. */
bool dh_instrument_scope_objects(LLVMModuleRef m, struct dh_places *places, const struct dh_scope_objects *objects,
                                 struct dh_err *err);
/* Before simplification: marks functions so that no access is speculated or invented (sanitize_thread), and accesses so
 * that merged ones keep their sites (ir/site_scopes.h). */
void dh_instrument_prepare(LLVMModuleRef m);
/* Places the classes of `plan` that belong to DH_CLASSES_LATE or DH_CLASSES_EXACT. */
bool dh_instrument_late(LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places, struct dh_err *err);
bool dh_instrument_exact(LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places, struct dh_err *err);
/* Before those, which then lie inside: the sections of a policy (event/heal.h). */
bool dh_instrument_heal(LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places, struct dh_err *err);
/* After exact placement and the inlining that follows: frames of inlined functions are removed (they would pop their
 * caller's) and their hooks get places with chains. Late placement does this by itself. */
bool dh_instrument_after_inlining(LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places,
                                  struct dh_err *err);

#endif
