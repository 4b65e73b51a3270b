/* Finds the site of an access whose tag an optimisation dropped: by the alias scopes that survive merging
 * (ir/site_scopes.h), by line, by the name of what it accesses, by type. Layer: instrument. Built once per module,
 * after dh_places_enter_module; borrows the places. */
#ifndef DH_INSTRUMENT_SITE_RESOLVER_H
#define DH_INSTRUMENT_SITE_RESOLVER_H

#include "instrument/pass.h"
#include "instrument/places.h"
#include "instrument/site_index.h"
#include "ir/access_names.h"

struct dh_site_resolver {
    struct dh_places *places;
    const struct dh_plan *plan;
    struct dh_site_index index;
    struct dh_namer *namer;
    unsigned any;          /* classes that at least one site has: what an access of no known site gets */
    LLVMValueRef function; /* that namer and `inside` are about */
    DH_VEC(struct dh_debug_scope_names) inside; /* source functions with code in it */
    DH_VEC(uint32_t) fits;                      /* sites under consideration */
};

struct dh_resolved_site {
    uint32_t site;    /* DH_NO_SITE when nothing fits */
    unsigned classes; /* of every site it may stand for, so that merging two sites never loses an event */
};

void dh_site_resolver_init(struct dh_site_resolver *r, LLVMModuleRef m, struct dh_places *places,
                           const struct dh_plan *plan);
void dh_site_resolver_release(struct dh_site_resolver *r);
/* Classes of an access by its tag or its alias scopes; all classes when it has neither. */
unsigned dh_site_resolver_certain_classes(struct dh_site_resolver *r, const struct dh_memop *a);
struct dh_resolved_site dh_site_resolver_find(struct dh_site_resolver *r, const struct dh_memop *a);
/* The same for an access whose location is that of something else near it. */
struct dh_resolved_site dh_site_resolver_find_named(struct dh_site_resolver *r, const struct dh_memop *a);
/* Place id for the hook of an instruction: its site (may be DH_NO_SITE) and the calls it was inlined through, by the
 * locations around it when its own is lost. */
uint32_t dh_site_resolver_place(struct dh_site_resolver *r, LLVMValueRef instruction, uint32_t site);

#endif
