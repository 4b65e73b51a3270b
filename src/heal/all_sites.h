/* The sites of a program and of its instrumented libraries in one table: sections may be in any of them. Layer: heal.
 */
#ifndef DH_HEAL_ALL_SITES_H
#define DH_HEAL_ALL_SITES_H

#include "event/site.h"
#include "host/err.h"

/* The program's own rows and strings come first, as they are; of two rows with one name there is the first. Owned by
 * the caller. */
struct dh_site_builder *dh_all_sites(const char *program, const struct dh_site_table *own, struct dh_err *err);

#endif
