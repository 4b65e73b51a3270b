/* Hooks of loads and stores at chosen places, out of line: for shared libraries, unoptimised code, and what the inline
 * checks cannot decide. */
#include "runtime/core/public_hooks.h"

#include "runtime/platform/bytes.h"
#include "runtime/platform/keeps_registers.h"
#include "runtime/stale/element_sampling.h"
#include "runtime/stale/stale.h"

enum { COPIED_MOST = 256 };

static bool is_skipped(const void *addr, uint32_t what, uint32_t place)
{
    return (what & DH_STALE_ELEMENT && ((uintptr_t)addr & __dh_stale_mask) != __dh_stale_want) ||
           --__dh_thread.stale_skip[place % DH_STALE_SITES] != 0;
}

static bool is_unserved(const void *addr, uint32_t what)
{
    return what & DH_STALE_ELEMENT ? ((uintptr_t)addr & __dh_stale_mask) != __dh_stale_want : __dh_stale_over;
}

/* Each access is made once, as volatile ones must be. */
#define HOOKS(type, bytes)                                                                                             \
    struct __attribute__((packed, may_alias)) word##bytes {                                                            \
        type it;                                                                                                       \
    };                                                                                                                 \
    type __dh_load##bytes(const void *addr, uint32_t what, uint32_t place)                                             \
    {                                                                                                                  \
        type value;                                                                                                    \
        if (is_skipped(addr, what, place))                                                                             \
            return ((const volatile struct word##bytes *)addr)->it;                                                    \
        dh_stale_load(addr, &value, sizeof value, what, place);                                                        \
        return value;                                                                                                  \
    }                                                                                                                  \
    void __dh_store##bytes(void *addr, type value, uint32_t what, uint32_t place)                                      \
    {                                                                                                                  \
        if (is_unserved(addr, what))                                                                                   \
            ((volatile struct word##bytes *)addr)->it = value;                                                         \
        else                                                                                                           \
            dh_stale_store(addr, &value, sizeof value, what, place);                                                   \
    }
HOOKS(uint8_t, 1)
HOOKS(uint16_t, 2)
HOOKS(uint32_t, 4)
HOOKS(uint64_t, 8)

void __dh_load_any(const void *addr, void *value, size_t size, uint32_t what, uint32_t place)
{
    if (is_skipped(addr, what, place))
        dh_bytes_copy(value, addr, size);
    else
        dh_stale_load(addr, value, size, what, place);
}

void __dh_store_any(void *addr, const void *value, size_t size, uint32_t what, uint32_t place)
{
    if (is_unserved(addr, what))
        dh_bytes_copy(addr, value, size);
    else
        dh_stale_store(addr, value, size, what, place);
}

/* Larger than any struct worth serving: its older values are forgotten. */
void __dh_copy_any(void *dst, const void *src, size_t size, uint32_t what, uint32_t place)
{
    char bytes[COPIED_MOST];
    if (!dh_stale_on || __dh_stale_over || size > sizeof bytes) {
        dh_bytes_move(dst, src, size);
        DH_STALE(dh_stale_forget(dst, size));
        return;
    }
    __dh_load_any(src, bytes, size, what, place);
    __dh_store_any(dst, bytes, size, what, place);
}

void __dh_fill_any(void *dst, uint32_t byte, size_t size, uint32_t what, uint32_t place)
{
    char bytes[COPIED_MOST];
    if (!dh_stale_on || __dh_stale_over || size > sizeof bytes) {
        dh_bytes_fill(dst, byte, size);
        DH_STALE(dh_stale_forget(dst, size));
        return;
    }
    dh_bytes_fill(bytes, byte, size);
    __dh_store_any(dst, bytes, size, what, place);
}

void __dh_local(const void *at, size_t size)
{
    DH_STALE(dh_stale_forget(at, size));
}

uint32_t __dh_unwatched(const void *first, size_t size)
{
    return !dh_stale_is_any_sampled(__dh_stale_mask, __dh_stale_want, (uintptr_t)first, size);
}

/* ---- for the inline checks ---- */

uint64_t dh_stale_load_slow(const void *addr, uint32_t what, uint32_t place);
void dh_stale_store_slow(void *addr, uint64_t value, uint32_t what, uint32_t place);

static size_t size_of(uint32_t what)
{
    return (what & DH_STALE_WHAT) >> 16;
}

uint64_t dh_stale_load_slow(const void *addr, uint32_t what, uint32_t place)
{
    uint64_t value = 0;
    dh_stale_load(addr, &value, size_of(what), what, place);
    return value;
}

void dh_stale_store_slow(void *addr, uint64_t value, uint32_t what, uint32_t place)
{
    dh_stale_store(addr, &value, size_of(what), what, place);
}

DH_KEEPS_ALL_BUT_RESULT("__dh_load_slow", "dh_stale_load_slow");
DH_KEEPS_REGISTERS("__dh_store_slow", "dh_stale_store_slow");
