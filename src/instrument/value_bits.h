/* Bit casts between values and the integers of their size that hooks have as parameters and results. Layer: instrument.
 * Stateless. */
#ifndef DH_INSTRUMENT_VALUE_BITS_H
#define DH_INSTRUMENT_VALUE_BITS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* Is it a type whose bits fit an integer of its size: integers, pointers, floating point of 2, 4, 8 or 16 bytes? */
bool dh_value_is_scalar(LLVMTypeRef type);
/* At the builder's position; `bits` is an integer type as wide as the value is in memory. */
LLVMValueRef dh_value_to_bits(LLVMBuilderRef b, LLVMValueRef value, LLVMTypeRef bits);
LLVMValueRef dh_value_from_bits(LLVMBuilderRef b, LLVMValueRef bits, LLVMTypeRef type);

#endif
