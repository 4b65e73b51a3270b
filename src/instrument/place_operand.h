/* The place operand of a hook whose !dh.site tag was lost. Layer: instrument. When optimisation merged two accesses to
 * different variables into one with a phi or select address, the place becomes a phi or select as well, so that the
 * report names the access that was executed. */
#ifndef DH_INSTRUMENT_PLACE_OPERAND_H
#define DH_INSTRUMENT_PLACE_OPERAND_H

#include "instrument/site_resolver.h"

/* `site` is what dh_site_resolver_find answered. Leaves the builder before the access. */
LLVMValueRef dh_place_operand_emit(struct dh_site_resolver *r, struct dh_pass *pass, const struct dh_memop *a,
                                   uint32_t site);

#endif
