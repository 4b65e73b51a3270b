/* Source names of debug scopes, interned in the site builder, so that they equal those of the site rows.
 * Layer: instrument. Owns its caches; they belong to one module at a time. */
#ifndef DH_INSTRUMENT_SCOPES_H
#define DH_INSTRUMENT_SCOPES_H

#include "base/vec.h"
#include "event/site.h"
#include "instrument/ptrmap.h"
#include "ir/debug_info.h"

struct dh_scope_names {
    uint32_t file, function;
};

struct dh_scopes {
    struct dh_site_builder *sites;
    struct dh_di *di;
    struct dh_ptrmap known; /* scope -> index into names */
    DH_VEC(struct dh_scope_names) names;
};

void dh_scopes_init(struct dh_scopes *s, struct dh_site_builder *sites);
void dh_scopes_release(struct dh_scopes *s);
/* Before a module is asked about, and after (NULL): handles of one module say nothing in the next. */
void dh_scopes_begin(struct dh_scopes *s, LLVMModuleRef m);
struct dh_scope_names dh_scopes_names(struct dh_scopes *s, LLVMMetadataRef scope);

#endif
