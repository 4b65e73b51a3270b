/* The place operand of a hook whose tag was lost. Layer: instrument.
 * Two accesses to different variables may have become one with a computed address: the address says at run time which
 * of the two it is, and so does the place. */
#ifndef DH_INSTRUMENT_PLACE_OPERAND_H
#define DH_INSTRUMENT_PLACE_OPERAND_H

#include "instrument/site_resolver.h"

/* `site` is what dh_site_resolver_find answered. Leaves the builder before the access. */
LLVMValueRef dh_place_operand_emit(struct dh_site_resolver *r, struct dh_pass *w, const struct dh_memop *a,
                                   uint32_t site);

#endif
