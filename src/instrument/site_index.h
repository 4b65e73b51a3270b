/* Sites sorted by line and by function, for binary search. Layer: instrument. Owns its arrays; the table may get
 * strings and chains meanwhile, but no rows. */
#ifndef DH_INSTRUMENT_SITE_INDEX_H
#define DH_INSTRUMENT_SITE_INDEX_H

#include "event/site.h"

struct dh_site_index {
    uint32_t *by_line;     /* site ids in order of file, line, id */
    uint32_t *by_function; /* site ids in order of file, function, id */
};

/* Ids with equal keys in an index, lowest first. */
struct dh_site_range {
    const uint32_t *ids;
    uint32_t n;
};

void dh_site_index_init(struct dh_site_index *x, const struct dh_site_table *t);
void dh_site_index_release(struct dh_site_index *x);
/* `t` is the table that the index was built from, even if reallocated; file and function are its strings. */
struct dh_site_range dh_site_index_line(const struct dh_site_index *x, const struct dh_site_table *t, uint32_t file,
                                        uint32_t line);
struct dh_site_range dh_site_index_function(const struct dh_site_index *x, const struct dh_site_table *t, uint32_t file,
                                            uint32_t function);

#endif
