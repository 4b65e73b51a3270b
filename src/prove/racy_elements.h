/* Parts of arrays that races were seen on, by names that every build has. Layer: prove. Plain data. */
#ifndef DH_PROVE_RACY_ELEMENTS_H
#define DH_PROVE_RACY_ELEMENTS_H

#include "event/engine.h"
#include "finding/finding.h"

struct dh_racy_element {
    char global[120];       /* symbol of the global that it is a part of; "": of heap blocks */
    uint64_t block, offset; /* as in dh_engine_element; of a global: within it */
    uint64_t address;       /* of a global, in the file that is run (dh_racy_elements_resolve); 0: not there */
};

/* Where in its object the finding's accesses met. False: not known, or the object is no larger than that. */
bool dh_racy_element_of_finding(const struct dh_finding *f, struct dh_racy_element *out);
/* Addresses of globals in this file. */
void dh_racy_elements_resolve(struct dh_racy_element *e, size_t n, const char *file);
/* What the runtime is told of them; how many there are. */
uint32_t dh_racy_elements_export(const struct dh_racy_element *e, size_t n,
                                 struct dh_engine_element out[DH_ENGINE_ELEMENTS]);
/* The element that a name with numbers means, as "grid[3][17]": of the global `grid` in this file, else, each being of
 * `size` bytes, of any heap block. False: there are no numbers in it. */
bool dh_racy_element_by_name(const char *name, const char *file, unsigned size, struct dh_racy_element *out);
/* The name without its numbers, "grid[][]". Owned by the caller. */
char *dh_racy_element_array_name(const char *name);

#endif
