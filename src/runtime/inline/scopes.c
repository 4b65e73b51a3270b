/* Included by all.c. The consistency detector's checks and scopes of function activations, inlined into executables.
 * Layer: runtime. */
#include "runtime/consistency/scopes.h"
#include "event/hooks.h"
#include "runtime/race/fast.h"

/* In assembly (consistency/scopes.c): preserves all registers. */
DH_PRESERVE_ALL void __dh_scope_complete(uintptr_t addr, uint32_t what, uint32_t place);
void __dh_scope_range(uintptr_t addr, size_t size, uint32_t write, uint32_t place);
__attribute__((preserve_most, cold)) uint32_t __dh_scope_enter_slow(const void *object, uint32_t place);
__attribute__((preserve_most, cold)) void __dh_scope_leave_slow(uint32_t token);

INLINE void __dh_scope_read(const void *addr, size_t size, uint32_t place)
{
    struct dh_thread_state *t = &__dh_thread;
    if (RARE(!dh_scope_check_read(&t->scope, t->scope_accesses, dh_scopes_cells(), (uintptr_t)addr, (unsigned)size,
                                  place)))
        __dh_scope_complete((uintptr_t)addr, (uint32_t)size, place);
}

INLINE void __dh_scope_write(void *addr, size_t size, uint32_t place)
{
    struct dh_thread_state *t = &__dh_thread;
    if (RARE(!dh_scope_check_write(&t->scope, t->scope_accesses, dh_scopes_cells(), (uintptr_t)addr, (unsigned)size,
                                   place)))
        __dh_scope_complete((uintptr_t)addr, (uint32_t)size | 1u << 8, place);
}

/* Unaligned, but perhaps within one aligned word of eight bytes. */
INLINE void __dh_scope_read_range(const void *addr, size_t size, uint32_t place)
{
    if (size <= 8 && ((uintptr_t)addr & 7) + size <= 8)
        __dh_scope_read(addr, size, place);
    else
        __dh_scope_range((uintptr_t)addr, size, 0, place);
}

INLINE void __dh_scope_write_range(void *addr, size_t size, uint32_t place)
{
    if (size <= 8 && ((uintptr_t)addr & 7) + size <= 8)
        __dh_scope_write(addr, size, place);
    else
        __dh_scope_range((uintptr_t)addr, size, 1, place);
}

INLINE uint32_t __dh_scope_enter(const void *object, uint32_t place)
{
    struct dh_thread_state *t = &__dh_thread;
    uint32_t token = t->scopes;
    if (RARE(!t->scope_thread || t->record))
        return __dh_scope_enter_slow(object, place);
    t->scopes = token + 1;
    dh_scope_push(t->scope_thread, token, (uintptr_t)object);
    return token;
}

INLINE void __dh_scope_leave(uint32_t token)
{
    struct dh_thread_state *t = &__dh_thread;
    if (RARE(!t->scope_thread || t->record || token >= t->scopes)) {
        __dh_scope_leave_slow(token);
        return;
    }
    t->scopes = token;
    dh_scope_pop(t->scope_thread, token);
}
