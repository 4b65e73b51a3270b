#include "runtime/stale/state.h"

#include "memory/heuristics.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/tool_file.h"
#include "runtime/race/sync_table.h"
#include "runtime/stale/racy_elements.h"

#include <stddef.h>

bool dh_stale_on;
struct dh_stale_control *dh_stale_control;
uint32_t __dh_stale_over = 1;

/* NULL: failed, with the reason in *why. */
static struct dh_stale_control *map(const char *path, const char **why)
{
    size_t mapped = 0;
    struct dh_stale_control *c = dh_tool_file_map(path, 0, &mapped);
    *why = "its region cannot be opened";
    if (!c)
        return NULL;
    *why = "its region is of another version of the tool";
    bool fits = mapped >= sizeof *c && c->magic == DH_STALE_MAGIC && c->version == DH_STALE_VERSION;
    return fits && c->log_room <= (mapped - sizeof *c) / sizeof *c->log ? c : NULL;
}

/* Without chosen places there is nothing to serve, and happens-before is not needed. */
static bool is_variant(void)
{
    return dh_text_after(__dh_variant, "stale");
}

void dh_stale_start(void)
{
    const char *path = dh_process.stale_region, *why = NULL;
    if (!path || dh_process.engine_region || !is_variant())
        return;
    dh_stale_control = map(path, &why);
    if (dh_stale_control && dh_heuristic_by_name(dh_stale_control->job.heuristic) == DH_HEURISTIC_COUNT)
        why = "there is no such heuristic";
    else if (dh_stale_control && dh_stale_serve_start()) {
        dh_racy_elements_start(dh_stale_control->job.elements, dh_stale_control->job.n_elements);
        dh_stale_threads_start(dh_stale_control->job.slots ? dh_stale_control->job.slots : DH_STALE_SLOTS);
        atomic_fetch_add(&dh_stale_control->processes, 1);
        dh_stale_on = true;
        return;
    } else if (dh_stale_control)
        why = "there is no memory";
    dh_print_stderr("deadheat: process %d: no stale values: %s\n", dh_process.pid, why);
}

void dh_stale_activate(void)
{
    static bool begun;
    if (begun)
        return;
    begun = true;
    dh_stale_sample_all();
    __dh_stale_over = 0;
    dh_stale_serve_every_site();
}

void dh_stale_forked(void)
{
    if (!dh_stale_on)
        return;
    dh_sync_table_forked();
    dh_racy_elements_forked();
    dh_stale_sampling_forked();
    dh_stale_threads_forked();
    dh_stale_serve_forked();
    atomic_fetch_add(&dh_stale_control->processes, 1);
}

void dh_stale_log(uint32_t thread, enum dh_stale_kind kind, uint64_t object, unsigned size, uint64_t value)
{
    struct dh_stale_control *c = dh_stale_control;
    if (__builtin_expect(!c->log_room, 1))
        return;
    uint64_t i = atomic_fetch_add(&c->log_used, 1);
    if (i >= c->log_room)
        return;
    struct dh_stale_record *r = &c->log[i];
    r->process = (uint32_t)dh_process.pid;
    r->thread = thread;
    r->size = (uint8_t)size;
    r->object = object;
    r->value = value;
    atomic_store(&r->kind, kind);
}
