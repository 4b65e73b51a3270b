/* Finds the site of an access whose tag an optimisation dropped, by debug location, operation and size.
 * Layer: instrument. Index over the site table, built once per module; borrows the places. */
#ifndef DH_INSTRUMENT_RESOLVE_H
#define DH_INSTRUMENT_RESOLVE_H

#include "instrument/places.h"
#include "instrument/weave.h"

struct dh_resolver {
    struct dh_places *places;
    const struct dh_plan *plan;
    uint32_t *by_line;     /* site ids in order of file, line, id */
    uint32_t *by_function; /* site ids in order of file, function, id */
    uint32_t n;
    unsigned any; /* classes that at least one site has: what an access of no known site gets */
};

struct dh_resolved {
    uint32_t site;    /* DH_NO_SITE when nothing fits */
    unsigned classes; /* of every site it may stand for, so that merging two sites never loses an event */
};

void dh_resolver_init(struct dh_resolver *r, struct dh_places *places, const struct dh_plan *plan);
void dh_resolver_release(struct dh_resolver *r);
struct dh_resolved dh_resolver_find(struct dh_resolver *r, const struct dh_memop *a);

#endif
