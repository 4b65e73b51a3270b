#include "instrument/places.h"

#include "base/alloc.h"
#include "base/set.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

struct dh_places *dh_places_new(struct dh_site_builder *sites)
{
    struct dh_places *p = dh_xcalloc(1, sizeof *p);
    p->sites = sites;
    dh_debug_scopes_init(&p->scopes, sites);
    return p;
}

void dh_places_free(struct dh_places *p)
{
    if (!p)
        return;
    dh_debug_scopes_release(&p->scopes);
    dh_u64_map_release(&p->chains);
    dh_u64_map_release(&p->ids);
    dh_vec_release(&p->all);
    free(p);
}

const struct dh_place *dh_places_all(const struct dh_places *p, uint32_t *n)
{
    *n = (uint32_t)p->all.n;
    return p->all.at;
}

void dh_places_enter_module(struct dh_places *p, LLVMModuleRef m)
{
    dh_debug_scopes_enter_module(&p->scopes, m);
    dh_u64_map_clear(&p->chains);
}

void dh_places_leave_module(struct dh_places *p)
{
    dh_places_enter_module(p, NULL);
}

static uint32_t chain_of(struct dh_places *p, LLVMMetadataRef inlined_at)
{
    if (!inlined_at)
        return DH_NO_CHAIN;
    uint64_t *known = dh_u64_map_find(&p->chains, (uintptr_t)inlined_at);
    if (known)
        return *known;
    struct dh_debug_scope_names names = dh_debug_scopes_get(&p->scopes, LLVMDILocationGetScope(inlined_at));
    struct dh_chain link = {
        .file = names.file,
        .function = names.function,
        .line = LLVMDILocationGetLine(inlined_at),
        .column = LLVMDILocationGetColumn(inlined_at),
        .next = chain_of(p, LLVMDILocationGetInlinedAt(inlined_at)),
    };
    uint32_t id = dh_site_builder_chain(p->sites, &link);
    *dh_u64_map_at(&p->chains, (uintptr_t)inlined_at) = id;
    return id;
}

static uint32_t intern(struct dh_places *p, struct dh_place place)
{
    uint32_t index = dh_u64_map_number(&p->ids, dh_pair_key(place.site, place.chain));
    if (index == p->all.n)
        dh_vec_push(&p->all, place);
    return index;
}

uint32_t dh_places_id_from_call(struct dh_places *p, uint32_t site, LLVMMetadataRef from)
{
    uint32_t chain = chain_of(p, from);
    struct dh_site_table t = dh_site_builder_view(p->sites);
    if (site < t.n_sites && (chain == DH_NO_CHAIN || chain == t.sites[site].inlined))
        return site;
    return t.n_sites + intern(p, (struct dh_place){site, chain});
}

uint32_t dh_places_id(struct dh_places *p, uint32_t site, LLVMMetadataRef loc)
{
    return dh_places_id_from_call(p, site, loc ? LLVMDILocationGetInlinedAt(loc) : NULL);
}

uint32_t dh_places_site(const struct dh_places *p, uint32_t id)
{
    uint32_t n_sites = dh_site_builder_view(p->sites).n_sites;
    if (id < n_sites)
        return id;
    return id - n_sites < p->all.n ? p->all.at[id - n_sites].site : DH_NO_SITE;
}
