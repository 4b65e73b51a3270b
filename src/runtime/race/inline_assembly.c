/* Inline assembly that was executed: its accesses and synchronisation have no hooks, so results are incomplete there.
 */
#include "runtime/core/public_hooks.h"

#include "runtime/core/modules.h"
#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/platform/print.h"
#include "runtime/report/report.h"

#include <stdbool.h>

enum { SITES_MOST = 64 };

static uintptr_t seen[SITES_MOST]; /* return addresses of the hook's calls, one a site; 0 = free */

/* Lock-free open addressing; nothing is ever removed. */
void __dh_assembly(uint32_t place)
{
    uintptr_t code = (uintptr_t)__builtin_return_address(0);
    (void)place;
    for (unsigned n = 0, i = (unsigned)(code >> 2); n < SITES_MOST; n++, i++) {
        uintptr_t *slot = &seen[i % SITES_MOST], is = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (is == code)
            return;
        if (!is && __atomic_compare_exchange_n(slot, &is, code, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return;
        if (is == code)
            return;
    }
}

/* One line, if there are findings or the user asked for verbosity. */
void dh_assembly_at_exit(void)
{
    uint32_t n = 0;
    uintptr_t first = 0;
    for (unsigned i = 0; i < SITES_MOST; i++) {
        uintptr_t code = __atomic_load_n(&seen[i], __ATOMIC_ACQUIRE);
        n += code != 0;
        first = first ? first : code;
    }
    if (!n || (dh_options.verbosity < 1 && !dh_report_count()))
        return;
    const struct dh_module *m = dh_modules_find(first);
    dh_print("deadheat: note: inline assembly ran in %u%s places whose accesses and ordering are not modelled, one at "
             "%s+0x%lx\n",
             n, n == SITES_MOST ? " or more" : "", m ? m->path : "", (unsigned long)(m ? first - m->base : first));
}
