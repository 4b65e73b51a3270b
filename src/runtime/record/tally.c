#include "runtime/record/tally.h"

#include "event/counters.h"
#include "runtime/core/start.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"

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
    dh_sink_flush(out);
}

void dh_tally_write(const char *path)
{
    char own_path[DH_PRINT_BUFFER], scratch[32];
    struct dh_sink out;
    if (!__dh_tally_row)
        return;
    dh_print_text(own_path, sizeof own_path, "%s.%d", path, dh_process.pid);
    long fd = dh_sys_open(own_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    dh_sink_start(&out, (int)fd);
    if (fd >= 0) {
        write_counts(&out);
        dh_sys_close((int)fd);
    }
    if (fd < 0 || out.failed)
        dh_print("deadheat: cannot write counts_file: %s: %s\n", own_path,
                 fd < 0 ? dh_print_error((int)-fd, scratch, sizeof scratch) : "write failed");
}
