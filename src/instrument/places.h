/* Places: a site with the chain of calls it was inlined through. Layer: instrument. Internal half of instrument.h's
 * dh_places. */
#ifndef DH_INSTRUMENT_PLACES_H
#define DH_INSTRUMENT_PLACES_H

#include "instrument/debug_scopes.h"
#include "instrument/instrument.h"

struct dh_places {
    struct dh_site_builder *sites;
    struct dh_debug_scopes scopes;
    struct dh_u64_map chains; /* inlined-at location -> chain */
    struct dh_u64_map ids;    /* (site, chain): its number is the index into all */
    DH_VEC(struct dh_place) all;
};

/* Around a pass over a module: cached handles are invalid in another one. */
void dh_places_enter_module(struct dh_places *p, LLVMModuleRef m);
void dh_places_leave_module(struct dh_places *p);
/* Place id that a hook gets for `site` (may be DH_NO_SITE) at debug location `loc` (may be NULL). */
uint32_t dh_places_id(struct dh_places *p, uint32_t site, LLVMMetadataRef loc);
/* The same when only the call is known through which the site was inlined; without a site, `from` is the location of
 * the access or near it, and becomes the innermost frame. */
uint32_t dh_places_id_from_call(struct dh_places *p, uint32_t site, LLVMMetadataRef from);
/* The site of an id that dh_places_id returned. */
uint32_t dh_places_site(const struct dh_places *p, uint32_t id);

#endif
