/* Start-up of the engine: mapping the control region when the process starts, and, before the first thread is created,
 * choosing carrier and strategy and taking over signals and system calls. */
#include "runtime/engine/engine.h"

#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/checks/access_contexts.h"
#include "runtime/engine/checks/atomic_sections.h"
#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/checks/hidden_accesses.h"
#include "runtime/engine/checks/quarantine.h"
#include "runtime/engine/ends/outcome.h"
#include "runtime/engine/ends/schedule_ends.h"
#include "runtime/engine/libraries.h"
#include "runtime/engine/primitives/primitives.h"
#include "runtime/engine/processes/children.h"
#include "runtime/engine/processes/fresh_processes.h"
#include "runtime/engine/processes/relatives.h"
#include "runtime/engine/restore/undo.h"
#include "runtime/engine/schedule/replay_strategy.h"
#include "runtime/engine/schedule/start_point.h"
#include "runtime/engine/schedule/undisturbed.h"
#include "runtime/engine/system/descriptors/description.h"
#include "runtime/engine/system/files/file.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/memory.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/engine/system/time/timers.h"
#include "runtime/engine/tasks/coroutine.h"
#include "runtime/engine/tasks/serial_threads.h"
#include "runtime/interpose/real.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/tool_file.h"
#include "runtime/race/internal.h"
#include "runtime/stale/racy_elements.h"

#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE (1 << 1)
#endif
enum { DEPTH_MAX = 1000000, HEAP_AHEAD = 1 << 20 };

bool dh_engine_on;

/* ---- when the process starts ---- */

static struct dh_engine_control *map_control(const char *where)
{
    size_t size = 0;
    struct dh_engine_control *c = dh_tool_file_map(where, 0, &size);
    return c && size >= sizeof *c && dh_engine_control_valid(c, size) ? c : NULL;
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    if (dh_engine_on) {
        dh_outcome_flush();
        dh_engine_program_exits(status);
    } else
        dh_engine_ended_without_threads();
}

void dh_engine_ended_without_threads(void)
{
    if (dh_engine && !dh_engine->carrier && dh_relatives_is_followed())
        __atomic_store_n(&dh_engine->control->progress.state, DH_ENGINE_NO_THREADS, __ATOMIC_RELEASE);
}

void dh_engine_leave(void)
{
    if (dh_engine && dh_engine_on)
        dh_signals_give_back();
    dh_engine_on = false;
    dh_engine = NULL;
}

/* A child of before the first thread may be the one that is explored. */
void dh_engine_forked(void)
{
    if (!dh_engine || dh_engine->carrier) {
        dh_engine_leave();
        return;
    }
    dh_relatives_forked();
    if (dh_fresh_processes_search() && dh_relatives_is_followed())
        dh_fresh_processes_serve();
}

bool dh_engine_takes_threads(void)
{
    if (!dh_engine)
        return false;
    if (!dh_engine->carrier)
        dh_relatives_make_threads();
    if (!dh_engine->carrier && !dh_relatives_is_followed())
        dh_engine_leave();
    return dh_engine;
}

static void take_job(struct dh_engine *e)
{
    const struct dh_engine_job *job = &e->control->job;
    e->flags = job->flags;
    e->look_for = job->look_for ? job->look_for : ~(1u << DH_ENGINE_DONE | 1u << DH_ENGINE_CUT);
    if (e->flags & DH_ENGINE_NO_RACES)
        e->look_for &= ~(1u << DH_ENGINE_RACE);
    e->depth_max = job->depth_max ? job->depth_max : DEPTH_MAX;
    e->visible = dh_engine_visible(e->control);
    e->n_visible = (uint32_t)e->control->visible_size;
    e->use_arch_prctl = e->flags & DH_ENGINE_NO_FSGSBASE || !(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE);
}

static enum dh_keep_sharing sharing_of(const struct dh_engine_job *job)
{
    if (job->flags & (DH_ENGINE_FORK | DH_ENGINE_FRESH))
        return DH_KEEP_SHARES_ALL;
    return job->mode == DH_ENGINE_EXPLORE && (job->start || job->prefix_length) ? DH_KEEP_SHARES_LASTING
                                                                                : DH_KEEP_PRIVATE;
}

void dh_engine_start(void)
{
    const char *where = dh_process.engine_region;
    if (!where)
        return;
    struct dh_engine_control *control = map_control(where);
    struct dh_engine *e;
    if (!control) {
        dh_print_stderr("deadheat: DEADHEAT_ENGINE=%s is no control region of this version\n", where);
        dh_sys_exit_group(3);
    }
    if (!dh_keep_init(&e, sharing_of(&control->job))) {
        dh_print_stderr("deadheat: no memory for the engine\n");
        dh_sys_exit_group(3);
    }
    e->control = control;
    take_job(e);
    dh_engine = e;
    dh_virtual_time_start();
    e->tasks = dh_keep_alloc(sizeof *e->tasks * DH_ENGINE_TASKS);
    e->actors = dh_keep_alloc(sizeof *e->actors * DH_ENGINE_TASKS);
    e->alternatives = dh_keep_alloc(sizeof *e->alternatives * DH_ENGINE_TASKS);
    e->trace = dh_keep_alloc(sizeof *e->trace * (e->depth_max + 1ul));
    if (!e->tasks || !e->actors || !e->alternatives || !e->trace || !dh_occurrence_counts_init() || !dh_tasks_init() ||
        !dh_undo_init() || !dh_files_init() || !dh_descriptions_init() || !dh_quarantine_init() ||
        !dh_commands_init() || !dh_children_init() || !dh_schedule_ends_init() || !dh_atomic_sections_init() ||
        !dh_outcome_init() || !dh_timers_init() || !dh_start_point_init())
        dh_engine_cannot("no memory");
    if (control->job.mode == DH_ENGINE_REPLAY && !(control->job.flags & DH_ENGINE_LOOSE))
        e->values = dh_keep_alloc(sizeof *e->values * (e->depth_max + 1ul));
    dh_found_ends_init();
    /* Detectors would slow it down, and their state would be rolled back. */
    dh_options.detect = "none";
    dh_modules_init();
    dh_engine_libraries_start();
    dh_racy_elements_start(control->elements, control->n_elements);
    dh_real.on_exit(at_exit, NULL);
    dh_relatives_start();
    if (dh_fresh_processes_search() && dh_relatives_is_followed())
        dh_fresh_processes_serve();
}

/* ---- before the first thread ---- */

/* Zeroed when the strategy is restarted. */
static void *search_memory(struct dh_search *search, size_t n)
{
    struct dh_engine *e = search->host;
    n = (n + 63) & ~(size_t)63;
    if (n > (size_t)(e->search_end - e->search_next))
        return NULL;
    void *at = e->search_next;
    e->search_next += n;
    return at;
}

static struct dh_choice *prefix_choices(struct dh_engine *e, uint32_t from, uint32_t n)
{
    struct dh_choice *out = dh_keep_alloc(n * sizeof *out);
    const struct dh_engine_decision *d = dh_engine_prefix(e->control) + from;
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = (struct dh_choice){d[i].thread, d[i].alternative};
    return out;
}

void dh_engine_start_strategy(void)
{
    struct dh_engine *e = dh_engine;
    const struct dh_engine_job *job = &e->control->job;
    struct dh_search *s = &e->search;
    char name[sizeof job->strategy + 1];
    dh_text_copy(name, sizeof name, job->strategy);
    e->strategy = job->mode == DH_ENGINE_REPLAY ? &dh_replay_strategy : dh_strategy_by_name(name);
    if (!e->strategy)
        dh_engine_cannot("no strategy '%s'", name);
    s->seed = job->seed;
    s->depth_max = e->depth_max;
    s->preemptions_max = job->preemptions_max;
    s->memory = search_memory;
    uint32_t undisturbed = dh_undisturbed_of_prefix(e);
    s->prefix_length = job->prefix_length - undisturbed;
    s->prefix = prefix_choices(e, undisturbed, s->prefix_length);
    dh_text_copy(name, sizeof name, job->then);
    s->then = name[0] ? dh_strategy_by_name(name) : NULL;
    s->pct_depth = job->pct_depth;
    s->shard = job->shard;
    s->shards = job->shards;
    s->target.set = job->target_place[0] || job->target_place[1];
    s->target.site[0] = job->target_place[0];
    s->target.site[1] = job->target_place[1];
    s->target.held = job->target_held;
    s->target.frozen = job->target_frozen;
    s->target.passes = job->flags & DH_ENGINE_JUDGE;
    s->host = e;
    e->strategy_self = e->strategy->start(s);
    if (!e->strategy_self)
        dh_engine_cannot("strategy '%s' does not work with this job", e->strategy->name);
    if (e->flags & DH_ENGINE_COVERAGE)
        e->coverage = dh_coverage_new(s);
}

void dh_engine_restart_strategy(void)
{
    struct dh_engine *e = dh_engine;
    size_t used = (size_t)(e->search_next - e->search_memory + DH_ENGINE_PAGE - 1) & ~(size_t)(DH_ENGINE_PAGE - 1);
    dh_kernel_call(SYS_madvise, (long)e->search_memory, (long)used,
                   sharing_of(&e->control->job) ? MADV_REMOVE : MADV_DONTNEED, 0, 0, 0);
    e->search_next = e->search_memory;
    e->search.statistics = (struct dh_search_statistics){0};
    e->control->progress.restarts++;
    e->strategy_self = e->strategy->start(&e->search);
    if (!e->strategy_self)
        dh_engine_cannot("no memory");
    e->coverage = e->coverage ? dh_coverage_new(&e->search) : NULL;
}

/* Does now what libc would do lazily in every schedule: load the unwinder, allocate the buffer of standard output, grow
 * the heap. With one arena threads need no mappings of their own. Libraries must not assume a single thread. */
static void settle_libc(void)
{
    void *frames[1];
    void (*allocate)(FILE *) = (void (*)(FILE *))dlsym(RTLD_DEFAULT, "_IO_doallocbuf");
    backtrace(frames, 1);
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, HEAP_AHEAD * 64);
    mallopt(M_MMAP_THRESHOLD, HEAP_AHEAD / 2);
    mallopt(M_TOP_PAD, HEAP_AHEAD);
    dh_real.free(dh_real.malloc(HEAP_AHEAD / 4));
    if (allocate)
        allocate(stdout);
    __libc_single_threaded = 0;
}

static const struct dh_engine_carrier_ops *choose_carrier(const struct dh_engine_job *job)
{
    if (job->mode == DH_ENGINE_REPLAY || job->carrier == DH_ENGINE_KERNEL_THREADS || job->flags & DH_ENGINE_FRESH)
        return &dh_serial_threads;
    if (dh_tls_prepare() && dh_tls_works())
        return &dh_coroutines;
    if (job->carrier == DH_ENGINE_COROUTINES)
        dh_engine_cannot("libc is not as known: thread-local storage of coroutines does not work");
    return &dh_serial_threads;
}

static void begin_main(struct dh_engine *e)
{
    struct dh_task *main = &e->tasks[0];
    main->fs = (uintptr_t)pthread_self();
    main->tid = (uint32_t)dh_sys_gettid();
    e->current_fs = main->fs;
    dh_thread_attributes_begin(main);
}

void dh_engine_begin(const struct dh_step *create)
{
    struct dh_engine *e = dh_engine;
    settle_libc();
    if (!dh_fresh_processes_search())
        dh_relatives_begin();
    dh_tls_init();
    e->first_step = *create;
    e->carrier = choose_carrier(&e->control->job);
    e->control->progress.carrier = e->carrier->is_kernel ? DH_ENGINE_KERNEL_THREADS : DH_ENGINE_COROUTINES;
    if (e->carrier->is_kernel)
        e->flags |= DH_ENGINE_OUTPUT;
    begin_main(e);
    e->heuristic_picks = e->control->job.mode == DH_ENGINE_EXPLORE && !(e->flags & DH_ENGINE_SYSTEMATIC);
    if (!dh_hb_check_init() || !dh_access_contexts_init() || !dh_adversary_init())
        dh_engine_cannot("no memory");
    dh_hidden_accesses_begin();
    if (!dh_fresh_processes_search())
        dh_engine_start_strategy();
    dh_virtual_time_at_snapshot();
    dh_mappings_begin();
    if (!(e->flags & DH_ENGINE_FOR_REAL))
        dh_descriptions_begin();
    if (!dh_signals_begin())
        dh_engine_cannot("signal handlers cannot be installed");
    if (!dh_syscalls_begin())
        dh_engine_cannot("this kernel does not dispatch system calls to user space");
    dh_engine_on = true;
    if (e->carrier->is_kernel)
        dh_serial_threads_begin(&e->tasks[0]);
    else
        dh_coroutines_begin(&e->tasks[0]);
}
