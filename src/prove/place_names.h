/* Unique names of the places of a variant and its libraries: the stable name of the site, LIBRARY! before it for one of
 * a library, and @N behind it for the Nth place with the same. Layer: prove. Borrows the modules; strings live as long
 * as the set. */
#ifndef DH_PROVE_PLACE_NAMES_H
#define DH_PROVE_PLACE_NAMES_H

#include "event/engine.h"
#include "finding/modules.h"
#include "host/err.h"

#include <stdbool.h>
#include <stdint.h>

struct dh_place_names;
/* `variant` is the file that runs. */
struct dh_place_names *dh_place_names_new(struct dh_modules *modules, const char *variant);
void dh_place_names_free(struct dh_place_names *p);
/* The places of this file follow those that are there: how many. */
uint32_t dh_place_names_add_library(struct dh_place_names *p, const char *path);
/* The numbers from `first` on are places of this file, too: they have sites, but no names. */
void dh_place_names_add_unnamed(struct dh_place_names *p, const char *path, uint32_t first, uint32_t count);
/* Of those with names. */
uint32_t dh_place_names_count(const struct dh_place_names *p);
/* Never NULL: other numbers are "place N", UINT32_MAX is "?". */
const char *dh_place_names_name(struct dh_place_names *p, uint32_t place);
bool dh_place_names_find(struct dh_place_names *p, const char *name, uint32_t *place);
/* The site of a place; NULL when it has none. */
const struct dh_site *dh_place_names_site(const struct dh_place_names *p, uint32_t place,
                                          const struct dh_site_table **table);
/* Marks in `visible` every place with this stable name, the reading half of an update included; returns how many. `one`
 * gets one of them. */
unsigned dh_place_names_mark(const struct dh_place_names *p, const char *site, uint8_t *visible, uint32_t *one);

/* From a section file: marks (event/engine.h) for its entries, ends and the accesses of its variables, all visible. An
 * error when a site is not of this program. */
bool dh_place_names_sections(struct dh_place_names *p, const char *path, dh_engine_marks *visible, struct dh_err *err);

#endif
