#include "event/place_table.h"

static bool refuse(const char **why, const char *text)
{
    if (why)
        *why = text;
    return false;
}

static bool chains_ok(const struct dh_site_table *t)
{
    for (uint32_t i = 0; i < t->n_chains; i++) {
        const struct dh_chain *c = &t->chains[i];
        if (c->file >= t->n_strings || c->function >= t->n_strings || (c->next != DH_NO_CHAIN && c->next >= i))
            return false;
    }
    return !t->n_strings || !t->strings[t->n_strings - 1];
}

bool dh_place_table_read(struct dh_place_table *t, const void *bytes, size_t n, const char **why)
{
    const uint32_t *counts = bytes;
    *t = (struct dh_place_table){0};
    t->chains.strings = "";
    if (!bytes || n < 16 || (uintptr_t)bytes % 4)
        return refuse(why, "place table is cut short");
    uint64_t places = (uint64_t)counts[1] * sizeof(struct dh_place_pair);
    uint64_t chains = (uint64_t)counts[2] * sizeof(struct dh_chain);
    if (16 + places + chains + counts[3] != n)
        return refuse(why, "place table has a wrong size");
    const char *at = (const char *)bytes + 16;
    struct dh_place_table r = {.places = (const void *)at, .n_sites = counts[0], .n_places = counts[1]};
    r.chains = (struct dh_site_table){.chains = (const void *)(at + places),
                                      .strings = at + places + chains,
                                      .n_chains = counts[2],
                                      .n_strings = counts[3]};
    if (!chains_ok(&r.chains))
        return refuse(why, "place table has a broken inlining chain");
    *t = r;
    return true;
}

bool dh_place_find(const struct dh_place_table *t, const struct dh_site_table *sites, uint32_t id, uint32_t *site,
                   uint32_t *chain, const struct dh_site_table **from)
{
    if (id < sites->n_sites) {
        *site = id;
        *chain = sites->sites[id].inlined;
        *from = sites;
        return true;
    }
    if (id < t->n_sites || id - t->n_sites >= t->n_places)
        return false;
    const struct dh_place_pair *p = &t->places[id - t->n_sites];
    *site = p->site < sites->n_sites ? p->site : DH_NO_SITE;
    *chain = p->chain < t->chains.n_chains ? p->chain : DH_NO_CHAIN;
    *from = &t->chains;
    return true;
}
