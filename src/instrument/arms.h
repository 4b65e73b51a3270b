/* The place operand of a hook whose tag was lost. Layer: instrument.
 * Two accesses to different variables may have become one with a computed address: the address says at run time which
 * of the two it is, and so does the place. */
#ifndef DH_INSTRUMENT_ARMS_H
#define DH_INSTRUMENT_ARMS_H

#include "instrument/resolve.h"

/* `site` is what dh_resolver_find answered. Leaves the builder before the access. */
LLVMValueRef dh_arms_place(struct dh_resolver *r, struct dh_weave *w, const struct dh_memop *a, uint32_t site);

#endif
