/* Names of the places of a variant, each its own: the stable name of the site, and @N for the Nth of several with the
 * same. Layer: prove. Borrows the modules; strings live as long as the set. */
#ifndef DH_PROVE_PLACE_NAMES_H
#define DH_PROVE_PLACE_NAMES_H

#include "event/engine.h"
#include "finding/modules.h"
#include "host/err.h"

#include <stdbool.h>
#include <stdint.h>

struct dh_place_names;
/* `variant` is the file that runs. NULL when it has no sites. */
struct dh_place_names *dh_place_names_new(struct dh_modules *modules, const char *variant);
void dh_place_names_free(struct dh_place_names *p);
uint32_t dh_place_names_count(const struct dh_place_names *p);
/* Never NULL: what is no place of the variant is called by its number, what has none "?". */
const char *dh_place_names_name(struct dh_place_names *p, uint32_t place);
bool dh_place_names_find(struct dh_place_names *p, const char *name, uint32_t *place);
/* The row of a place; NULL when it has none. */
const struct dh_site *dh_place_names_site(const struct dh_place_names *p, uint32_t place,
                                          const struct dh_site_table **table);
/* The nth instrumented library (event/engine.h) is this file: its places have rows, too. Names are still numbers. */
void dh_place_names_library(struct dh_place_names *p, uint32_t n, const char *path);
/* Marks in `visible` every place that a finding calls by this stable name, the reading half of an update included; how
 * many there are. `one` gets a place of them. */
unsigned dh_place_names_mark(const struct dh_place_names *p, const char *site, uint8_t *visible, uint32_t *one);

/* Of a section file: marks (event/engine.h) for its entries, ends and the accesses of its variables, all visible. One
 * line when a site is not of this program. */
bool dh_place_names_sections(struct dh_place_names *p, const char *path, dh_engine_marks *visible, struct dh_err *err);

#endif
