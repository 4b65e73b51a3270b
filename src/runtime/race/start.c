/* Start of the race detector in a process: layout, shadow, tables, main thread. */
#include "runtime/race/internal.h"

#include "runtime/core/context.h"
#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/core/threads.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/platform/spin.h"
#include "runtime/race/layout.h"
#include "runtime/race/shadow.h"
#include "runtime/race/thread_slots.h"

#include <sys/mman.h>

enum { LINES = 1 << 22, LINES_LEAST = 1 << 16 };

static dh_spin tables = DH_SPIN_INIT(DH_RANK_RACE_TABLES);

static void lock_tables(void)
{
    dh_spin_lock(&tables);
}

static void unlock_tables(void)
{
    dh_spin_unlock(&tables);
}

void dh_race_tables_forked(void)
{
    dh_spin_forked(&tables);
    dh_heap_blocks_forked();
}

/* Large tables are reserved and filled on demand; small ones come from a bump allocator. */
static void *allocate(size_t n)
{
    static char *bump;
    static size_t left;
    enum { PIECE = 1 << 20 };
    n = (n + 15) & ~(size_t)15;
    if (n >= PIECE)
        return dh_sys_mmap(n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (left < n) {
        bump = dh_sys_mmap(PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
        left = bump ? PIECE : 0;
    }
    if (left < n)
        return NULL;
    void *at = bump;
    bump += n;
    left -= n;
    return at;
}

static bool make_tables(const char **why)
{
    *why = "there is no memory for its tables: lift the limit";
    /* Without overcommit, fewer must do. */
    for (uint32_t lines = LINES; !dh_race_tables.lines.at && lines >= LINES_LEAST; lines /= 2)
        dh_race_init(&dh_race_tables, allocate, lines);
    dh_race_tables.lock = lock_tables;
    dh_race_tables.unlock = unlock_tables;
    dh_race_tables.report = dh_race_report_hit;
    dh_race_tables.explain = dh_race_explain;
    return dh_race_tables.lines.at && dh_heap_blocks_init();
}

/* Inline checks read the shadow even if the detector is off. */
static bool has_inline_checks(void)
{
    for (const char *at = __dh_variant; *at; at++)
        if ((at == __dh_variant || at[-1] == ',') && dh_text_after(at, "race"))
            return true;
    return false;
}

/* Executes the program again if that may help, once. */
static bool map_shadow(const char **why)
{
    static const char *const reasons[] = {
        [DH_SHADOW_LIMITED] = "its address space is limited (ulimit -v): lift the limit",
        [DH_SHADOW_TAKEN] = "the program lies where the detector's tables must be: link it elsewhere",
    };
    if (!dh_layout_fits(DH_GROWTH_GENEROUS))
        dh_layout_restart();
    *why = "parts of it lie so that the detector cannot tell them apart: link it elsewhere";
    if (!dh_layout_fits(DH_GROWTH_MINIMAL))
        return false;
    enum dh_shadow_result result = dh_shadow_map();
    if (result == DH_SHADOW_TAKEN)
        dh_layout_restart();
    *why = reasons[result];
    return result == DH_SHADOW_MAPPED;
}

static void report_failure(const char *why)
{
    dh_print_stderr("deadheat: no race detection in process %d: %s, or run it without checks: deadheat "
                    "run --detect=none --plan=none\n",
                    dh_process.pid, why);
}

void dh_race_start(void)
{
    const char *why;
    bool wanted = dh_options_detects("race");
    if (!wanted && !has_inline_checks())
        return;
    if (!map_shadow(&why) || (wanted && !make_tables(&why))) {
        report_failure(why);
        dh_sys_exit_group(3);
    }
    if (!wanted)
        return;
    dh_modules_init();
    dh_slots_init((uint32_t)dh_options.clock_limit);
    dh_race_on = true;
    dh_race_start_main();
}

bool dh_race_shadow_forked(void)
{
    if (dh_shadow_forked())
        return true;
    dh_race_on = false;
    dh_print_stderr("deadheat: no race detection in process %d: there is no memory for its tables\n", dh_process.pid);
    return false;
}

void dh_race_at_exit(void)
{
    if (dh_options.verbosity >= 1)
        dh_print("deadheat: process %d: %u threads, %u calling contexts (%u lost), clocks began anew %u times, "
                 "%u slots of threads went to others\n",
                 dh_process.pid, dh_threads_count(), dh_context_count(), dh_context_lost(), dh_slots_generation() - 1,
                 dh_slots_merged());
}
