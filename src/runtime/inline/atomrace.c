/* AtomRace's hooks, inlined into executables. Layer: runtime. `what` is constant: only reads of sites checked for
 * collisions alone have a fast path, other sites call the slow path at once. */
#include "event/hooks.h"
#include "event/site.h"
#include "event/site_mark.h"
#include "runtime/atomrace/fast.h"
#include "runtime/core/thread_state.h"

extern _Bool dh_noise_on __attribute__((visibility("hidden")));
/* In executables only, where the runtime itself defines it. */
extern __thread struct dh_thread_state __dh_thread __attribute__((tls_model("local-exec")));

__attribute__((preserve_most, cold)) uint64_t __dh_atom_before_slow(void *addr, uint64_t what, uint32_t spot,
                                                                    uint32_t place);
__attribute__((preserve_most, cold)) void __dh_atom_after_slow(void *addr, uint64_t what, uint64_t token, uint32_t spot,
                                                               uint32_t place);

static inline __attribute__((always_inline)) int has_fast_path(uint64_t what)
{
    uint32_t size = what >> 16 & 0xFFFF;
    return what >> 32 == DH_SITE_MARK_COLLIDE && (what & 0xFFFF) == DH_OP_READ && size && size <= 8;
}

__attribute__((always_inline)) uint64_t __dh_atom_before(void *addr, uint64_t what, uint32_t spot, uint32_t place)
{
    if ((what >> 8 & 0xFF) != DH_ORDER_NONE && __builtin_expect(!dh_noise_on, 1)) {
        __dh_thread.atom_syncs++;
        return 0;
    }
    if (has_fast_path(what) && __builtin_expect(__dh_thread.atom_fast, 1)) {
        uint64_t seen = __atomic_load_n(dh_atom_cell(&dh_atom_writes, (uintptr_t)addr), __ATOMIC_ACQUIRE);
        if (__builtin_expect(!(seen & DH_ATOM_ACTIVE), 1))
            return seen;
    }
    return __dh_atom_before_slow(addr, what, spot, place);
}

__attribute__((always_inline)) void __dh_atom_after(void *addr, uint64_t what, uint64_t token, uint32_t spot,
                                                    uint32_t place)
{
    if (has_fast_path(what)) {
        uint64_t now = __atomic_load_n(dh_atom_cell(&dh_atom_writes, (uintptr_t)addr), __ATOMIC_ACQUIRE);
        if (__builtin_expect(now == token, 1))
            return;
    }
    __dh_atom_after_slow(addr, what, token, spot, place);
}
