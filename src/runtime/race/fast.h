/* Slow path of the inline race checks, first step: called with preserve_all, so the caller spills no register. Layer:
 * runtime. Compiled by clang, which alone knows this calling convention. */
#ifndef DH_RUNTIME_RACE_FAST_H
#define DH_RUNTIME_RACE_FAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#define DH_PRESERVE_ALL __attribute__((preserve_all))
#else
#define DH_PRESERVE_ALL
#endif

/* With the place of a write whose value the caller does not know. Above all places (history.h). */
#define DH_PLACE_NO_VALUE (1u << 31)

DH_PRESERVE_ALL void __dh_read1_slow(const void *addr, uint32_t place);
DH_PRESERVE_ALL void __dh_read2_slow(const void *addr, uint32_t place);
DH_PRESERVE_ALL void __dh_read4_slow(const void *addr, uint32_t place);
DH_PRESERVE_ALL void __dh_read8_slow(const void *addr, uint32_t place);
DH_PRESERVE_ALL void __dh_read4_shared_slow(const void *addr, uint32_t place);
DH_PRESERVE_ALL void __dh_read8_shared_slow(const void *addr, uint32_t place);
DH_PRESERVE_ALL void __dh_read16_slow(const void *addr, uint32_t place);
DH_PRESERVE_ALL void __dh_write1_slow(void *addr, uint64_t value, uint32_t place);
DH_PRESERVE_ALL void __dh_write2_slow(void *addr, uint64_t value, uint32_t place);
DH_PRESERVE_ALL void __dh_write4_slow(void *addr, uint64_t value, uint32_t place);
DH_PRESERVE_ALL void __dh_write8_slow(void *addr, uint64_t value, uint32_t place);
DH_PRESERVE_ALL void __dh_write16_slow(void *addr, uint32_t place);
DH_PRESERVE_ALL void __dh_read_unaligned_slow(const void *addr, size_t size, uint32_t place);
DH_PRESERVE_ALL void __dh_write_unaligned_slow(void *addr, size_t size, uint32_t place);

#endif
