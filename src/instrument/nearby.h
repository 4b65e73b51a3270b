/* Debug locations around an instruction that has lost its own. Layer: instrument. */
#ifndef DH_INSTRUMENT_NEARBY_H
#define DH_INSTRUMENT_NEARBY_H

#include "instrument/scopes.h"

/* The location of an instruction if it still has a line, else NULL. */
LLVMMetadataRef dh_nearby_own(LLVMValueRef instruction);
/* Of the nearest instruction that has a line: users first, then the block, then the blocks around; NULL = none. */
LLVMMetadataRef dh_nearby_any(LLVMValueRef instruction);
/* The same, of those that belong to one source function; anywhere in the function if need be. */
LLVMMetadataRef dh_nearby_in(struct dh_scopes *s, LLVMValueRef instruction, struct dh_scope_names wanted);

#endif
