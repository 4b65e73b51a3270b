/* What instrumented code calls. Layer: event (instrument writes the calls, runtime defines them).
 * `place` = a site id, or for code inlined after numbering an id >= the number of sites that the variant's
 * place table resolves to (site, inlining chain). Hooks never change errno, the FPU state or the program's memory. */
#ifndef DH_EVENT_HOOKS_H
#define DH_EVENT_HOOKS_H

#include <stddef.h>
#include <stdint.h>

/* Late hooks (race, lockset): before the access. Sizes 1 2 4 8 16, aligned to the least of
 * that and 4; others use _range. `value` is what is about to be written, for the report. */
void __dh_read1(const void *addr, uint32_t place);
void __dh_read2(const void *addr, uint32_t place);
void __dh_read4(const void *addr, uint32_t place);
void __dh_read8(const void *addr, uint32_t place);
void __dh_read16(const void *addr, uint32_t place);
/* The same where the function only reads what it finds there, aligned to its size: checked in another order. */
void __dh_read4_shared(const void *addr, uint32_t place);
void __dh_read8_shared(const void *addr, uint32_t place);
void __dh_write1(void *addr, uint64_t value, uint32_t place);
void __dh_write2(void *addr, uint64_t value, uint32_t place);
void __dh_write4(void *addr, uint64_t value, uint32_t place);
void __dh_write8(void *addr, uint64_t value, uint32_t place);
void __dh_write16(void *addr, uint32_t place);
/* 1, 2, 4, 8 or 16 aligned bytes that are in no race: only whether they were freed. */
void __dh_alive_read(const void *addr, size_t size, uint32_t place);
void __dh_alive_write(void *addr, size_t size, uint32_t place);
/* 2, 4, 8 or 16 bytes anywhere. */
void __dh_read_unaligned(const void *addr, size_t size, uint32_t place);
void __dh_write_unaligned(void *addr, size_t size, uint32_t place);
void __dh_read_range(const void *addr, size_t size, uint32_t place);
void __dh_write_range(void *addr, size_t size, uint32_t place);
/* Before a loop that only computes: `count` accesses of 4 or 8 aligned bytes, the first at `first` and each `stride`
 * bytes from the one before; shape = size | stride << 8, a number with a sign. */
void __dh_read_run(const void *first, uint64_t count, uint64_t shape, uint32_t place);
void __dh_write_run(void *first, uint64_t count, uint64_t shape, uint32_t place);
/* What the recorder records (lockset), beside or instead of the above: before the access, of any size, anywhere; those
 * of 4 and 8 bytes aligned to their size. */
void __dh_note_read(const void *addr, size_t size, uint32_t place);
void __dh_note_write(void *addr, size_t size, uint32_t place);
void __dh_note_read4(const void *addr, uint32_t place);
void __dh_note_read8(const void *addr, uint32_t place);
void __dh_note_write4(void *addr, uint32_t place);
void __dh_note_write8(void *addr, uint32_t place);
/* An atomic that stays in the program, before the operation; `what` = op | order << 8 | size << 16 (dh_op, dh_order).
 */
void __dh_atomic(void *addr, uint32_t what, uint32_t place);
void __dh_fence(uint32_t what, uint32_t place);
/* Atomics of late placement: the runtime performs the operation, so that value and clock belong together; aligned,
 * executed with at least the order asked for. Compare-exchange and rmw return the old value. `failure` is the order of
 * a compare-exchange that fails; DH_ORDER_NONE: its read is ignored. */
enum dh_rmw {
    DH_RMW_XCHG,
    DH_RMW_ADD,
    DH_RMW_SUB,
    DH_RMW_AND,
    DH_RMW_NAND,
    DH_RMW_OR,
    DH_RMW_XOR,
    DH_RMW_MAX,
    DH_RMW_MIN,
    DH_RMW_UMAX,
    DH_RMW_UMIN,
    DH_RMW_UINC_WRAP,
    DH_RMW_UDEC_WRAP,
    DH_RMW_COUNT
};
__extension__ typedef unsigned __int128 dh_u128;
#define DH_ATOMIC_HOOKS(type, bytes)                                                                                   \
    type __dh_atomic_load##bytes(const void *addr, uint32_t what, uint32_t place);                                     \
    void __dh_atomic_store##bytes(void *addr, type value, uint32_t what, uint32_t place);                              \
    type __dh_atomic_rmw##bytes(void *addr, type operand, uint32_t what, uint32_t rmw, uint32_t place);                \
    type __dh_atomic_cas##bytes(void *addr, type expected, type desired, uint32_t what, uint32_t failure,              \
                                uint32_t place);
DH_ATOMIC_HOOKS(uint8_t, 1)
DH_ATOMIC_HOOKS(uint16_t, 2)
DH_ATOMIC_HOOKS(uint32_t, 4)
DH_ATOMIC_HOOKS(uint64_t, 8)
DH_ATOMIC_HOOKS(dh_u128, 16)
#undef DH_ATOMIC_HOOKS
/* Before inline assembly that may access memory in unknown ways. */
void __dh_assembly(uint32_t place);
/* Before a call that the site table knows (allocation, synchronisation, thread): names the place of the call. */
void __dh_call(uint32_t place);

/* Around a library call: accesses of memory at these addresses need no check, because no other thread can reach it or
 * because it was checked before. Both NULL after the call. */
void __dh_spare(const void *a, const void *b);

/* Before an access to what the source says is guarded by a lock: whether the thread holds it. `what` = bytes accessed |
 * flags | bytes of the lock << 32; a lock whose type is not sure counts once it was acquired. `words` is the
 * annotation, "guarded_by(lock)". CALL: nothing is accessed; the caller of the function must hold the lock `addr`. */
enum {
    DH_GUARDED_SIZE = 0xFFFF,
    DH_GUARDED_WRITE = 1 << 16,
    DH_GUARDED_SURE = 1 << 17,
    DH_GUARDED_CALL = 1 << 18,
    DH_GUARDED_LOCK_SHIFT = 32
};
void __dh_guarded(const void *addr, const void *lock, uint64_t what, const char *words);

/* Exact hooks (view, atomrace, engine, heal): on both sides of the access; `what` as above, but the order of a
 * compare-exchange that finds another value stands in the upper half of the byte of its order. */
enum { DH_WHAT_FAILURE_SHIFT = 12 };
void __dh_before(void *addr, uint32_t what, uint32_t place);
void __dh_after(void *addr, uint32_t what, uint32_t place);
/* Memory intrinsics in exact placement: op COPY, MOVE (from `src`) or SET (src NULL). */
void __dh_before_range(void *dst, const void *src, size_t size, uint32_t what, uint32_t place);
void __dh_after_range(void *dst, const void *src, size_t size, uint32_t what, uint32_t place);

/* AtomRace, placed like these and beside them; `what` as above, with the site's mark (event/site_mark.h) in the upper
 * half; `spot` = number of the function as the source has it << DH_SPOT_BITS | where in it. The result of
 * `before` is passed to `after`. Atomics have `before` alone. */
enum { DH_SPOT_BITS = 12 };
uint64_t __dh_atom_before(void *addr, uint64_t what, uint32_t spot, uint32_t place);
void __dh_atom_after(void *addr, uint64_t what, uint64_t token, uint32_t spot, uint32_t place);
void __dh_atom_before_range(void *dst, const void *src, size_t size, uint64_t what, uint32_t spot, uint32_t place);
void __dh_atom_after_range(void *dst, const void *src, size_t size, uint64_t what, uint32_t spot, uint32_t place);

/* Accesses of chosen places (stale): the runtime performs them, and a load may answer an older value. `what` as above,
 * in DH_STALE_WHAT, with flags of the place; also of chosen atomics. Any alignment. */
#define DH_STALE_MAY_TEAR (1u << 31) /* a plain word of eight bytes that is no pointer */
#define DH_STALE_ELEMENT (1u << 30)  /* one of many: sampled by address */
#define DH_STALE_CHOSEN (1u << 29)   /* of an atomic */
#define DH_STALE_VOLATILE (1u << 28)
#define DH_STALE_WHAT 0x0FFFFFFFu
uint8_t __dh_load1(const void *addr, uint32_t what, uint32_t place);
uint16_t __dh_load2(const void *addr, uint32_t what, uint32_t place);
uint32_t __dh_load4(const void *addr, uint32_t what, uint32_t place);
uint64_t __dh_load8(const void *addr, uint32_t what, uint32_t place);
void __dh_store1(void *addr, uint8_t value, uint32_t what, uint32_t place);
void __dh_store2(void *addr, uint16_t value, uint32_t what, uint32_t place);
void __dh_store4(void *addr, uint32_t value, uint32_t what, uint32_t place);
void __dh_store8(void *addr, uint64_t value, uint32_t what, uint32_t place);
/* Any other size or type: `value` lies in the caller's frame. */
void __dh_load_any(const void *addr, void *value, size_t size, uint32_t what, uint32_t place);
void __dh_store_any(void *addr, const void *value, size_t size, uint32_t what, uint32_t place);
/* memcpy and memmove; memset. */
void __dh_copy_any(void *dst, const void *src, size_t size, uint32_t what, uint32_t place);
void __dh_fill_any(void *dst, uint32_t byte, size_t size, uint32_t what, uint32_t place);
/* The lifetime of a local variable begins or ends: what was stored there before is gone. */
void __dh_local(const void *at, size_t size);
/* No element in these bytes is watched, now or later: accesses of them need no further call. */
uint32_t __dh_unwatched(const void *first, size_t size);

/* Activations of functions (scope): placed before inlining, so that a function keeps its own when it becomes part of
 * another. `object` is its first pointer argument, or NULL; `place` the site of the function itself (DH_OP_FUNCTION).
 * The result is passed to `leave` at every visible exit. After longjmp, or an exception that passes a function without
 * clean-ups, activations are still open when an outer one is left: its token ends them, too. */
uint32_t __dh_scope_enter(const void *object, uint32_t place);
void __dh_scope_leave(uint32_t token);

/* Accesses in scopes (consistency), late and before the access: of at most eight bytes that lie in one aligned eight,
 * and any. */
void __dh_scope_read(const void *addr, size_t size, uint32_t place);
void __dh_scope_write(void *addr, size_t size, uint32_t place);
void __dh_scope_read_range(const void *addr, size_t size, uint32_t place);
void __dh_scope_write_range(void *addr, size_t size, uint32_t place);

/* Healing (heal), outermost: numbers of sections and groups are those of event/heal.h. A section that is
 * open holds its group until it is closed; a group is entered for one access. `frame` is where the function's return
 * address lies, NULL for a section that may end in another function: `return` ends the sections that the activation has
 * open, `again` (after a landing pad or the second return of setjmp) those of activations that it called, and a call
 * that may wait for other threads ends all. Where the order of two accesses is healed, one waits until the other
 * happened. */
void __dh_heal_open(const void *frame, uint32_t section, uint32_t place);
void __dh_heal_close(uint32_t section, uint32_t place);
void __dh_heal_enter(uint32_t group, uint32_t place);
void __dh_heal_leave(uint32_t group, uint32_t place);
/* The same for a group with a lock for each object: the address of the variable, or of two that are meant. */
void __dh_heal_open_at(const void *frame, const void *one, const void *other, uint32_t section, uint32_t place);
void __dh_heal_enter_at(const void *object, uint32_t group, uint32_t place);
void __dh_heal_leave_at(const void *object, uint32_t group, uint32_t place);
void __dh_heal_await(uint32_t section, uint32_t place);
void __dh_heal_happened(uint32_t section, uint32_t place);
void __dh_heal_wait(uint32_t place);
void __dh_heal_return(const void *frame);
void __dh_heal_again(const void *frame);

/* An instrumented library registers itself with the range of its code; returns the number of its first place. */
uint32_t __dh_join(const void *code, const void *code_end);
/* Which functions of it stand for these hooks. */
struct dh_hook_entries {
    const void *before, *after, *enter, *leave;
};
void __dh_entries(const struct dh_hook_entries *entries);

/* Shadow call stack. Enter returns the depth to restore at every exit of the function;
 * `frame` is the address of the caller's return address (llvm.addressofreturnaddress), so that frames left by
 * longjmp or an exception are recognised as dead: every live frame lies above it. */
uint32_t __dh_enter(const void *frame, const void *return_address);
void __dh_leave(uint32_t depth);
/* After a landing pad or the second return of setjmp: frames above `depth + 1` are gone. */
void __dh_resume(uint32_t depth);

#endif
