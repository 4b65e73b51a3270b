/* operator new and delete: they call malloc and free, but for their caller. */
#include "runtime/interpose/memory/new.h"
#include "runtime/interpose/interpose.h"
#include "runtime/interpose/memory/alloc.h"

struct dh_real_new dh_real_new;

/* Weak: there when the library is part of the program. Asking for what is not there would make libc call the program's
 * malloc for the error text. */
__attribute__((weak, visibility("default"), noreturn)) extern void _ZSt17__throw_bad_allocv(void);

void dh_real_new_init(void)
{
    if (!_ZSt17__throw_bad_allocv)
        return;
#define DH_NEW(name) dh_real_new.name = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);
#include "runtime/interpose/memory/new_list.def"
#undef DH_NEW
}

/* Where the library is not to be found, being loaded privately by somebody: what it does, in short. */
static void *allocate(size_t n, size_t alignment, bool throws)
{
    n = n ? n : 1;
    void *at = alignment ? dh_real.memalign(alignment, n) : dh_real.malloc(n);
    if (!at && throws) {
        if (_ZSt17__throw_bad_allocv)
            _ZSt17__throw_bad_allocv();
        abort();
    }
    return at;
}

static void *allocated(void *at, size_t n, bool untold, const uintptr_t *slot)
{
    if (at && untold)
        dh_memory_allocated(at, n, slot);
    return at;
}

#define NEW(name, parameters, arguments, alignment, throws)                                                            \
    static void *dh_interposed_##name parameters                                                                       \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        if (!dh_real_new.name)                                                                                         \
            return allocated(allocate(n, alignment, throws), n, true, DH_CALL_SLOT);                                   \
        dh_alloc_announce(DH_CALL_SLOT);                                                                               \
        void *at = dh_real_new.name arguments;                                                                         \
        return allocated(at, n, dh_alloc_withdraw(), DH_CALL_SLOT);                                                    \
    }                                                                                                                  \
    DH_INTERPOSE(name);

NEW(_Znwm, (size_t n), (n), 0, true)
NEW(_Znam, (size_t n), (n), 0, true)
NEW(_ZnwmRKSt9nothrow_t, (size_t n, const void *tag), (n, tag), 0, false)
NEW(_ZnamRKSt9nothrow_t, (size_t n, const void *tag), (n, tag), 0, false)
NEW(_ZnwmSt11align_val_t, (size_t n, size_t alignment), (n, alignment), alignment, true)
NEW(_ZnamSt11align_val_t, (size_t n, size_t alignment), (n, alignment), alignment, true)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t alignment, const void *tag), (n, alignment, tag), alignment,
    false)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t alignment, const void *tag), (n, alignment, tag), alignment,
    false)

#define DELETE(name, parameters, arguments)                                                                            \
    static void dh_interposed_##name parameters                                                                        \
    {                                                                                                                  \
        if (!at)                                                                                                       \
            return;                                                                                                    \
        dh_interpose_ready();                                                                                          \
        dh_alloc_freeing(at, DH_CALL_SLOT);                                                                            \
        if (dh_real_new.name)                                                                                          \
            dh_real_new.name arguments;                                                                                \
        else                                                                                                           \
            dh_real.free(at);                                                                                          \
        dh_alloc_freed();                                                                                              \
    }                                                                                                                  \
    DH_INTERPOSE(name);

DELETE(_ZdlPv, (void *at), (at))
DELETE(_ZdaPv, (void *at), (at))
DELETE(_ZdlPvm, (void *at, size_t n), (at, n))
DELETE(_ZdaPvm, (void *at, size_t n), (at, n))
DELETE(_ZdlPvRKSt9nothrow_t, (void *at, const void *tag), (at, tag))
DELETE(_ZdaPvRKSt9nothrow_t, (void *at, const void *tag), (at, tag))
DELETE(_ZdlPvSt11align_val_t, (void *at, size_t alignment), (at, alignment))
DELETE(_ZdaPvSt11align_val_t, (void *at, size_t alignment), (at, alignment))
DELETE(_ZdlPvmSt11align_val_t, (void *at, size_t n, size_t alignment), (at, n, alignment))
DELETE(_ZdaPvmSt11align_val_t, (void *at, size_t n, size_t alignment), (at, n, alignment))
