/* What instrumented code calls. Layer: event (instrument writes the calls, runtime defines them).
 * `place` = a site id, or for code inlined after numbering an id >= the number of sites that the variant's
 * place table resolves to (site, inlining chain). Hooks never change errno, the FPU state or the program's memory. */
#ifndef DH_EVENT_HOOKS_H
#define DH_EVENT_HOOKS_H

#include <stddef.h>
#include <stdint.h>

/* Late hooks (race, lockset): before the access. Sizes 1 2 4 8 16; others and unaligned vectors use _range. */
void __dh_read1(const void *addr, uint32_t place);
void __dh_read2(const void *addr, uint32_t place);
void __dh_read4(const void *addr, uint32_t place);
void __dh_read8(const void *addr, uint32_t place);
void __dh_read16(const void *addr, uint32_t place);
void __dh_write1(void *addr, uint32_t place);
void __dh_write2(void *addr, uint32_t place);
void __dh_write4(void *addr, uint32_t place);
void __dh_write8(void *addr, uint32_t place);
void __dh_write16(void *addr, uint32_t place);
void __dh_read_range(const void *addr, size_t size, uint32_t place);
void __dh_write_range(void *addr, size_t size, uint32_t place);
/* Atomics of every placement, before the operation; `what` = op | order << 8 | size << 16 (dh_op, dh_order). */
void __dh_atomic(void *addr, uint32_t what, uint32_t place);
void __dh_fence(uint32_t what, uint32_t place);
/* Before a call that the site table knows (allocation, synchronisation, thread): says from where it comes. */
void __dh_call(uint32_t place);

/* Exact hooks (view, consistency, atomrace, engine, heal): on both sides of the access; `what` as above. */
void __dh_before(void *addr, uint32_t what, uint32_t place);
void __dh_after(void *addr, uint32_t what, uint32_t place);
/* Memory intrinsics in exact placement: op COPY, MOVE (from `src`) or SET (src NULL). */
void __dh_before_range(void *dst, const void *src, size_t size, uint32_t what, uint32_t place);
void __dh_after_range(void *dst, const void *src, size_t size, uint32_t what, uint32_t place);

/* Value-replacing loads (stale): given the value just loaded, answers the value the program is to see. */
uint8_t __dh_load1(const void *addr, uint8_t value, uint32_t place);
uint16_t __dh_load2(const void *addr, uint16_t value, uint32_t place);
uint32_t __dh_load4(const void *addr, uint32_t value, uint32_t place);
uint64_t __dh_load8(const void *addr, uint64_t value, uint32_t place);
/* Any other size: `value` is a copy in the caller's frame that the hook may change. */
void __dh_load_any(const void *addr, void *value, size_t size, uint32_t place);

/* Shadow call stack. Enter answers the depth to give back at every way out of the function;
 * `frame` is the address of the caller's return address (llvm.addressofreturnaddress), so that frames left by
 * longjmp or an exception are recognised as dead: every live frame lies above it. */
uint32_t __dh_enter(const void *frame, const void *return_address);
void __dh_leave(uint32_t depth);
/* After a landing pad or the second return of setjmp: frames above `depth + 1` are gone. */
void __dh_resume(uint32_t depth);

#endif
