/* Adversarial memory's loads and stores at chosen places, inlined into executables. Layer: runtime. Most loads return
 * what memory holds; the others call the slow path, which preserves all registers. */
#include "event/hooks.h"
#include "runtime/core/thread_state.h"
#include "runtime/race/fast.h"
#include "runtime/stale/element_sampling.h"

extern uint64_t __dh_stale_mask __attribute__((visibility("hidden")));
extern uint64_t __dh_stale_want __attribute__((visibility("hidden")));
extern uint32_t __dh_stale_over __attribute__((visibility("hidden")));

/* Declared to access only memory behind the pointers (see `compile`), so that loops keep values in registers. */
DH_PRESERVE_ALL uint64_t __dh_load_slow(const void *addr, uint32_t what, uint32_t place, uint32_t *skip);
DH_PRESERVE_ALL void __dh_store_slow(void *addr, uint64_t value, uint32_t what, uint32_t place);

#define USUAL(x) __builtin_expect(x, 1)

INLINE_PART int stale_is_skipped(const void *addr, uint32_t what, uint32_t place)
{
    if (what & DH_STALE_ELEMENT && USUAL(((uintptr_t)addr & __dh_stale_mask) != __dh_stale_want))
        return 1;
    return USUAL(--__dh_thread.stale_skip[place % DH_STALE_SITES] != 0);
}

INLINE_PART int stale_is_unserved(const void *addr, uint32_t what)
{
    if (what & DH_STALE_ELEMENT)
        return USUAL(((uintptr_t)addr & __dh_stale_mask) != __dh_stale_want);
    return __dh_stale_over != 0;
}

INLINE uint32_t __dh_unwatched(const void *first, size_t size)
{
    return USUAL(!dh_stale_is_any_sampled(__dh_stale_mask, __dh_stale_want, (uintptr_t)first, size));
}

/* Unaligned, of any type. */
#define CHOSEN(type, bytes)                                                                                            \
    struct __attribute__((packed, may_alias)) word##bytes {                                                            \
        type it;                                                                                                       \
    };                                                                                                                 \
    INLINE type __dh_load##bytes(const void *addr, uint32_t what, uint32_t place)                                      \
    {                                                                                                                  \
        type value = what & DH_STALE_VOLATILE ? ((const volatile struct word##bytes *)addr)->it                        \
                                              : ((const struct word##bytes *)addr)->it;                                \
        if (stale_is_skipped(addr, what, place))                                                                       \
            return value;                                                                                              \
        return (type)__dh_load_slow(addr, what, place, &__dh_thread.stale_skip[place % DH_STALE_SITES]);               \
    }                                                                                                                  \
    INLINE void __dh_store##bytes(void *addr, type value, uint32_t what, uint32_t place)                               \
    {                                                                                                                  \
        if (!stale_is_unserved(addr, what))                                                                            \
            __dh_store_slow(addr, value, what, place);                                                                 \
        else if (what & DH_STALE_VOLATILE)                                                                             \
            ((volatile struct word##bytes *)addr)->it = value;                                                         \
        else                                                                                                           \
            ((struct word##bytes *)addr)->it = value;                                                                  \
    }
CHOSEN(uint8_t, 1)
CHOSEN(uint16_t, 2)
CHOSEN(uint32_t, 4)
CHOSEN(uint64_t, 8)
