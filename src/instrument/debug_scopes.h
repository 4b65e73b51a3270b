/* File and function names of debug scopes, interned in the site builder, so that they equal those of the site rows.
 * Layer: instrument. Owns its caches; they belong to one module at a time. */
#ifndef DH_INSTRUMENT_DEBUG_SCOPES_H
#define DH_INSTRUMENT_DEBUG_SCOPES_H

#include "base/map.h"
#include "base/vec.h"
#include "event/site.h"
#include "ir/debug_info.h"

struct dh_debug_scope_names {
    uint32_t file, function;
};

struct dh_debug_scopes {
    struct dh_site_builder *sites;
    struct dh_di *di;
    struct dh_u64_map known; /* scope -> index into names */
    DH_VEC(struct dh_debug_scope_names) names;
};

void dh_debug_scopes_init(struct dh_debug_scopes *s, struct dh_site_builder *sites);
void dh_debug_scopes_release(struct dh_debug_scopes *s);
/* Before queries on a module, and after (NULL): cached handles are invalid in the next module. */
void dh_debug_scopes_enter_module(struct dh_debug_scopes *s, LLVMModuleRef m);
struct dh_debug_scope_names dh_debug_scopes_get(struct dh_debug_scopes *s, LLVMMetadataRef scope);

#endif
