#include "instrument/debug_scopes.h"

void dh_debug_scopes_init(struct dh_debug_scopes *s, struct dh_site_builder *sites)
{
    *s = (struct dh_debug_scopes){.sites = sites};
}

void dh_debug_scopes_release(struct dh_debug_scopes *s)
{
    dh_di_free(s->di);
    dh_u64_map_release(&s->known);
    dh_vec_release(&s->names);
}

void dh_debug_scopes_enter_module(struct dh_debug_scopes *s, LLVMModuleRef m)
{
    dh_di_free(s->di);
    s->di = m ? dh_di_new(m) : NULL;
    dh_u64_map_clear(&s->known);
    s->names.n = 0;
}

struct dh_debug_scope_names dh_debug_scopes_get(struct dh_debug_scopes *s, LLVMMetadataRef scope)
{
    uint64_t *known = dh_u64_map_find(&s->known, (uintptr_t)scope);
    if (known)
        return s->names.at[*known];
    const struct dh_scope *text = dh_di_scope(s->di, scope);
    struct dh_debug_scope_names names = {dh_site_builder_string(s->sites, text->file),
                                         dh_site_builder_string(s->sites, text->function)};
    *dh_u64_map_at(&s->known, (uintptr_t)scope) = s->names.n;
    dh_vec_push(&s->names, names);
    return names;
}
