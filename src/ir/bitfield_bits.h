/* Demanded bits of a loaded or stored integer: clang accesses whole storage units of bit-fields and selects the field
 * by shifts and masks. Layer: ir. Stateless. */
#ifndef DH_IR_BITFIELD_BITS_H
#define DH_IR_BITFIELD_BITS_H

#include <llvm-c/Core.h>
#include <stdint.h>

/* Leaves `from` and `used` unchanged when all bits may be demanded. */
void dh_bitfield_bits_used(LLVMValueRef access, uint64_t *from, uint64_t *used);

#endif
