#include "finding/section_facts.h"

#include "base/alloc.h"

#include <stdlib.h>

void dh_section_facts_release(struct dh_section_facts *s)
{
    for (size_t i = 0; i < s->lists.n; i++) {
        free(s->lists.at[i].reads);
        free(s->lists.at[i].writes);
    }
    dh_vec_release(&s->lists);
}

static const char **names_of(const struct dh_scope_table *t, const struct dh_site_table *sites, uint32_t first,
                             uint32_t n)
{
    const char **names = dh_xcalloc(n, sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = dh_site_string(sites, t->names[first + i]);
    return names;
}

static const struct dh_section_names *list_of(struct dh_section_facts *s, const struct dh_scope_table *t,
                                              const struct dh_site_table *sites, const struct dh_scope_row *r)
{
    for (size_t i = 0; i < s->lists.n; i++)
        if (s->lists.at[i].row == r)
            return &s->lists.at[i];
    struct dh_section_names new = {.row = r,
                                   .reads = names_of(t, sites, r->first, r->reads),
                                   .writes = names_of(t, sites, r->first + r->reads, r->writes)};
    dh_vec_push(&s->lists, new);
    return &s->lists.at[s->lists.n - 1];
}

const char *const *dh_section_may_access(struct dh_section_facts *s, const struct dh_known_module *m, uint32_t place,
                                         bool write, size_t *n)
{
    const struct dh_site_table *sites = dh_known_sites(m), *chains;
    const struct dh_scope_table *t = dh_known_scopes(m);
    uint32_t site, chain;
    *n = 0;
    if (!sites || !dh_place_find(dh_known_places(m), sites, place, &site, &chain, &chains))
        return NULL;
    const struct dh_scope_row *r = dh_scope_find(t, sites, site, chain, chains);
    if (!r)
        return NULL;
    const struct dh_section_names *l = list_of(s, t, sites, r);
    *n = write ? r->writes : r->reads;
    return write ? l->writes : l->reads;
}

static uint32_t site_of(const struct dh_known_module *m, uint32_t place)
{
    const struct dh_site_table *sites = dh_known_sites(m), *chains;
    uint32_t site, chain;
    bool known = sites && dh_place_find(dh_known_places(m), sites, place, &site, &chain, &chains);
    return known ? site : DH_NO_SITE;
}

uint32_t dh_section_may_wait(const struct dh_known_module *m, uint32_t lock, unsigned n, bool *nobody_signals)
{
    uint32_t site = site_of(m, lock);
    const struct dh_flow_row *r = site == DH_NO_SITE ? NULL : dh_flow_wait(dh_known_scopes(m), site, n);
    *nobody_signals = r && r->how & DH_FLOW_NOBODY_SIGNALS;
    return r && r->lock < dh_known_sites(m)->n_sites ? r->lock : UINT32_MAX;
}

int dh_section_value_flow(const struct dh_known_module *m, uint32_t read, uint32_t lock)
{
    const struct dh_scope_table *t = dh_known_scopes(m);
    uint32_t from = site_of(m, read), to = lock == UINT32_MAX ? DH_NO_SITE : site_of(m, lock);
    bool known = (t->n_rows || t->n_flows) && from != DH_NO_SITE && (lock == UINT32_MAX || to != DH_NO_SITE);
    return known ? (int)dh_flow_find(t, from, to) : -1;
}
