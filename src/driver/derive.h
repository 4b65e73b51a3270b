/* Derives a variant for another plan from the module and link recipe embedded in an executable or library. Layer:
 * driver. Variants are kept in the cache (host/cache.h). */
#ifndef DH_DRIVER_DERIVE_H
#define DH_DRIVER_DERIVE_H

#include "event/site.h"
#include "image/container.h"

/* Path of the variant of `program` for that plan; the program itself if it is that variant. Owned by the caller. */
char *dh_variant_derive(const char *program, const char *plan, struct dh_err *err);

/* How long it would take, roughly, on a machine that does nothing else; 0: it is there. */
uint64_t dh_variant_estimate_ns(const char *program, const char *plan);

/* A builder that holds the rows of a table, so that more can be added. Strings keep their offsets, by which other parts
 * name them. */
struct dh_site_builder *dh_site_builder_of_table(const struct dh_site_table *t);

/* Calls fn for every variant of this program in the cache. */
void dh_variants_each_cached(const struct dh_id *id,
                             void (*fn)(void *arg, const char *plan, const char *path, long long bytes), void *arg);

#endif
