/* Elements of arrays on which races were observed, by names that every build has. Layer: prove. Plain data. */
#ifndef DH_PROVE_RACY_ELEMENTS_H
#define DH_PROVE_RACY_ELEMENTS_H

#include "event/engine.h"
#include "finding/finding.h"

struct dh_racy_element {
    char global[120];       /* symbol of the array; "": heap blocks */
    uint64_t block, offset; /* as in dh_engine_element; of a global: the offset within it */
    uint64_t address;       /* of a global, set by dh_racy_elements_resolve; 0: absent */
};

/* The element of the finding. False: unknown, or the object has no elements. */
bool dh_racy_element_of_finding(const struct dh_finding *f, struct dh_racy_element *out);
/* Sets the addresses of globals in this file. */
void dh_racy_elements_resolve(struct dh_racy_element *e, size_t n, const char *file);
/* As the runtime needs them; returns how many. */
uint32_t dh_racy_elements_export(const struct dh_racy_element *e, size_t n,
                                 struct dh_engine_element out[DH_ENGINE_ELEMENTS]);
/* The element of a name with indices, as "grid[3][17]": of the global `grid` in this file, else of any heap block with
 * elements of `size` bytes. False: no indices. */
bool dh_racy_element_by_name(const char *name, const char *file, unsigned size, struct dh_racy_element *out);
/* The name without its indices, "grid[][]". Owned by the caller. */
char *dh_racy_element_array_name(const char *name);

#endif
