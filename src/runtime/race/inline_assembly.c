#include "runtime/core/public_hooks.h"

#include "runtime/core/modules.h"
#include "runtime/core/options.h"
#include "runtime/platform/print.h"
#include "runtime/race/inline_assembly.h"
#include "runtime/report/report.h"

#include <stdbool.h>

static struct {
    uintptr_t code; /* 0 = free */
    uint32_t place;
} seen[DH_ASSEMBLY_MAX];

/* Every call of the hook has its own return address. Lock-free open addressing; nothing is ever removed. */
void __dh_assembly(uint32_t place)
{
    uintptr_t code = (uintptr_t)__builtin_return_address(0);
    for (unsigned n = 0, i = (unsigned)(code >> 2); n < DH_ASSEMBLY_MAX; n++, i++) {
        uintptr_t *slot = &seen[i % DH_ASSEMBLY_MAX].code, is = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (is == code)
            return;
        if (!is && __atomic_compare_exchange_n(slot, &is, code, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            __atomic_store_n(&seen[i % DH_ASSEMBLY_MAX].place, place, __ATOMIC_RELEASE);
            return;
        }
        if (is == code)
            return;
    }
}

uint32_t dh_assembly_count(void)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < DH_ASSEMBLY_MAX; i++)
        n += __atomic_load_n(&seen[i].code, __ATOMIC_ACQUIRE) != 0;
    return n;
}

struct dh_assembly dh_assembly_get(uint32_t i)
{
    for (unsigned k = 0; k < DH_ASSEMBLY_MAX; k++)
        if (__atomic_load_n(&seen[k].code, __ATOMIC_ACQUIRE) && i-- == 0)
            return (struct dh_assembly){.place = __atomic_load_n(&seen[k].place, __ATOMIC_ACQUIRE),
                                        .code = seen[k].code};
    return (struct dh_assembly){.place = UINT32_MAX};
}

void dh_assembly_report(void)
{
    uint32_t n = dh_assembly_count();
    if (!n || (dh_options.verbosity < 1 && !dh_report_count()))
        return;
    uintptr_t code = dh_assembly_get(0).code;
    const struct dh_module *m = dh_modules_find(code);
    dh_print("deadheat: note: inline assembly ran in %u%s places whose accesses and ordering are not modelled, one at "
             "%s+0x%lx\n",
             n, n == DH_ASSEMBLY_MAX ? " or more" : "", m ? m->path : "", (unsigned long)(m ? code - m->base : code));
}
