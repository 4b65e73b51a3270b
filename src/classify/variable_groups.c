#include "classify/variable_groups.h"

#include "base/alloc.h"

#include <stdlib.h>

static void add_member(struct dh_racy_variable *g, const struct dh_racy_variable *v, uint32_t places)
{
    for (uint32_t i = 0; i < places; i++)
        g->marks[i] |= v->marks[i];
    g->loads += v->loads;
    g->stores += v->stores;
    g->tears = g->tears || v->tears;
    for (size_t i = 0; i < v->pairs.n; i++)
        dh_vec_push(&g->pairs, v->pairs.at[i]);
    for (size_t i = 0; i < v->sites.n; i++)
        dh_vec_push(&g->sites, dh_strdup(v->sites.at[i]));
    for (size_t i = 0; i < v->elements.n; i++)
        dh_vec_push(&g->elements, v->elements.at[i]);
    for (size_t i = 0; i < v->findings.n; i++)
        dh_vec_push(&g->findings, v->findings.at[i]);
    dh_vec_push(&g->members, v);
}

struct dh_racy_variable dh_racy_variable_group(const struct dh_racy_variables *v, const bool *in, uint32_t places)
{
    struct dh_racy_variable g = {.type = dh_strdup(""), .also = dh_strdup(""), .marks = dh_xcalloc(places + 1, 1)};
    struct dh_str name = {0};
    for (size_t i = 0; i < v->at.n; i++)
        if (in[i]) {
            add_member(&g, &v->at.at[i], places);
            dh_str_addf(&name, "%s%s", name.n ? " + " : "", v->at.at[i].name);
        }
    g.name = dh_str_take(&name);
    return g;
}
