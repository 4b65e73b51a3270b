/* The debug location nearest to an instruction that lost its own in optimisation. Layer: instrument. Stateless. */
#ifndef DH_INSTRUMENT_DEBUG_LOCATIONS_H
#define DH_INSTRUMENT_DEBUG_LOCATIONS_H

#include "instrument/debug_scopes.h"

/* Of the nearest instruction that has a line: users first, then the block, then the blocks around; NULL = none. */
LLVMMetadataRef dh_debug_location_nearest(LLVMValueRef instruction);
/* The same, of those that belong to one source function; anywhere in the function if need be. */
LLVMMetadataRef dh_debug_location_nearest_in(struct dh_debug_scopes *s, LLVMValueRef instruction,
                                             struct dh_debug_scope_names wanted);

#endif
