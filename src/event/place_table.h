/* The place table of a variant: what place ids at or above the number of sites stand for. Layer: event (tool reads).
 * Read-only view into the caller's bytes, which are not trusted. Format: docs/formats/container.md. */
#ifndef DH_EVENT_PLACE_TABLE_H
#define DH_EVENT_PLACE_TABLE_H

#include "event/site.h"

struct dh_place_pair {
    uint32_t site, chain; /* DH_NO_SITE, DH_NO_CHAIN */
};

struct dh_place_table {
    const struct dh_place_pair *places;
    struct dh_site_table chains; /* chains and strings only */
    uint32_t n_sites, n_places;
};

bool dh_place_table_read(struct dh_place_table *t, const void *bytes, size_t n, const char **why);
/* The site of an id and its inlining chain; false for ids out of range. `from` gets the table that holds the chain. */
bool dh_place_find(const struct dh_place_table *t, const struct dh_site_table *sites, uint32_t id, uint32_t *site,
                   uint32_t *chain, const struct dh_site_table **from);

#endif
