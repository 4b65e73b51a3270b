#include "runtime/record/tally.h"

#include "event/counters.h"
#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/platform/print.h"
#include "runtime/report/report.h"

#include <fcntl.h>

static uint64_t sum(uint32_t counter)
{
    uint64_t all = 0;
    for (uint32_t row = 0; row < DH_COUNTER_ROWS; row++)
        all += __atomic_load_n(&__dh_tally_counters[(uint64_t)row * __dh_tally_row + counter], __ATOMIC_RELAXED);
    return all;
}

static void write_counts(struct dh_sink *out)
{
    static const char *const names[] = {
#define DH_COUNTER(id, name) [DH_COUNTER_##id] = name,
#include "event/counters.def"
#undef DH_COUNTER
    };
    dh_sink_printf(out, "deadheat-counts 1\n");
    for (uint32_t n = 0; n < DH_COUNTER_COUNT && n < __dh_tally_row; n++)
        dh_sink_printf(out, "%s\t%lu\n", names[n], (unsigned long)sum(n));
    for (uint32_t n = DH_COUNTER_COUNT; n < __dh_tally_row; n++)
        if (sum(n))
            dh_sink_printf(out, "site\t%u\t%lu\n", n - DH_COUNTER_COUNT, (unsigned long)sum(n));
}

void dh_tally_at_exit(void)
{
    char path[DH_PRINT_BUFFER];
    if (!dh_options.counts_file || !__dh_tally_row || dh_report_is_sandboxed())
        return;
    dh_print_text(path, sizeof path, "%s.%d", dh_options.counts_file, dh_process.pid);
    dh_print_file("counts_file", path, write_counts);
}
