/* The engine's life: schedule after schedule. */
#include "runtime/engine/engine.h"

#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/adversary/drains.h"
#include "runtime/engine/atomic_sections.h"
#include "runtime/engine/coroutine.h"
#include "runtime/engine/hb_check.h"
#include "runtime/engine/livelock.h"
#include "runtime/engine/outcome.h"
#include "runtime/engine/quarantine.h"
#include "runtime/engine/schedule_ends.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/system/file.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/memory.h"
#include "runtime/engine/system/signal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/time.h"
#include "runtime/engine/system/undo.h"
#include "runtime/engine/watchdog.h"

enum { CLOCK_EVERY = 64, IDLE_MOST = 32000, CHANCES = 64 };

/* ---- one schedule ---- */

static void begin_schedule(struct dh_engine *e)
{
    e->tasks[0] = e->first_task;
    e->actors[0] = (struct dh_actor){.step = e->first, .enabled = 1, .alternatives = 1};
    e->ways[0] = NULL;
    e->n_tasks = 1;
    e->last = UINT32_MAX;
    e->depth = 0;
    e->end = DH_ENGINE_NO_END;
    e->signal = e->status = 0;
    e->fault_address = 0;
    e->raced = 0;
    e->now_ns = 0;
    dh_occurrence_counts_reset();
    dh_occurrence_counts_next(0, e->first.site);
    dh_found_ends_set_text("");
    e->raced_unordered = 0;
    e->idle = e->idle_from = 0;
    dh_livelock_stop();
    e->search.reached = false;
    e->commands = 0;
    e->operations = e->waits = e->work = 0;
    e->loads_before = e->control->progress.loads;
    dh_schedule_ends_begin();
    dh_outcome_begin();
    dh_atomic_sections_begin();
    if (e->coverage)
        dh_coverage_begin(e->coverage);
    dh_quarantine_begin();
    dh_hb_check_begin();
    dh_adversary_begin();
    dh_files_begin();
    e->chance = e->control->job.seed;
    e->running = true;
}

/* Answers whether somebody can go on. */
static bool look(struct dh_engine *e)
{
    bool any = false;
    for (uint32_t i = 0; i < e->n_tasks; i++) {
        struct dh_actor *a = &e->actors[i];
        if (a->ended)
            continue;
        dh_engine_alternatives *ways = e->ways[i];
        if (ways) {
            uint32_t bits = ways(&e->tasks[i]);
            a->enabled = bits & 1;
            a->alternatives = bits ? (uint8_t)(32 - __builtin_clz(bits)) : 0;
        } else {
            a->enabled = a->alternatives = 1;
        }
        any |= a->alternatives;
    }
    for (uint32_t i = 0; i < e->n_drains; i++)
        any |= e->actors[e->drains_from + i].enabled;
    return any;
}

static bool possible(const struct dh_engine *e, struct dh_choice c)
{
    if (c.thread >= e->n_tasks && !dh_drains_is_actor(e, c.thread))
        return false;
    const struct dh_actor *a = &e->actors[c.thread];
    if (c.alternative & DH_ENGINE_FUTURE)
        return !a->ended && a->enabled && e->control->job.mode == DH_ENGINE_REPLAY;
    return !a->ended && (c.alternative ? c.alternative < a->alternatives : a->enabled);
}

static void note(struct dh_engine *e, struct dh_choice c)
{
    const struct dh_step *s = &e->actors[c.thread].step;
    bool drains = dh_drains_is_actor(e, c.thread);
    e->trace[e->depth++] =
        (struct dh_engine_decision){.thread = drains ? dh_step_buffer_number(s) : c.thread,
                                    .place = s->site,
                                    .occurrence = s->occurrence,
                                    .alternative = drains ? dh_drains_piece(c.thread) : (uint16_t)c.alternative,
                                    .kind = s->kind,
                                    .flags = (uint8_t)s->flags,
                                    .object = s->object};
}

/* Could somebody go on who was not let all the while? Then others may wait for that. */
static bool somebody_starves(const struct dh_engine *e)
{
    for (uint32_t i = 0; i < e->n_tasks; i++)
        if (!e->actors[i].ended && e->actors[i].enabled && e->tasks[i].decision < e->idle_from)
            return true;
    return false;
}

/* Spinning counts more than sleeping, which may be many short naps of somebody who works, and than being quiet. Who
 * never was in the same state twice may come to an end, and gets a chance to. */
static bool gives_way_for_ever(struct dh_engine *e, const struct dh_actor *a)
{
    bool slow = a->step.kind == DH_STEP_SLEEP || (a->step.kind == DH_STEP_YIELD && a->step.object);
    uint64_t most = IDLE_MOST + 64ull * e->n_tasks;
    if (!a->yields) {
        e->idle_from = e->depth;
        e->idle = 0;
        dh_livelock_stop();
        return false;
    }
    e->idle += slow ? 1 : 8;
    if (e->idle >= most / 2 && !dh_livelock_is_watching())
        dh_livelock_watch(e);
    if (e->idle < most)
        return false;
    bool starves = somebody_starves(e), hangs = !starves && dh_livelock_of_all(e);
    if (!starves && !hangs && e->idle < CHANCES * most)
        return false;
    e->end = hangs ? DH_ENGINE_HANG : DH_ENGINE_CUT;
    return true;
}

/* False: it is a hang. */
static bool start_step(struct dh_engine *e, struct dh_choice c)
{
    if (e->picks && dh_adversary_serves(&e->actors[c.thread].step))
        c.alternative = dh_adversary_pick(c.thread, &e->actors[c.thread].step);
    note(e, c);
    e->waits += e->actors[c.thread].step.kind == DH_STEP_YIELD || e->actors[c.thread].step.kind == DH_STEP_SLEEP;
    e->executed = e->actors[c.thread].step;
    e->executing = c.thread;
    e->unordered = true;
    e->finished = false;
    e->tasks[c.thread].alternative = c.alternative;
    e->turn++;
    return !gives_way_for_ever(e, &e->actors[c.thread]);
}

static void finish_step(struct dh_engine *e)
{
    uint32_t thread = e->executing;
    dh_hb_check_executed();
    e->last = thread;
    e->finished = true;
    if (e->coverage)
        dh_coverage_step(e->coverage, thread, &e->executed);
    e->strategy->done(e->strategy_self, thread, e->tasks[thread].alternative, &e->executed);
}

static void go_on(struct dh_engine *e, struct dh_choice c)
{
    if (!start_step(e, c))
        return;
    if (dh_drains_is_actor(e, c.thread)) {
        e->unordered = false;
        dh_drains_step(c.thread);
        finish_step(e);
        return;
    }
    e->carrier->resume(&e->tasks[c.thread]);
    if (!e->finished)
        finish_step(e);
}

bool dh_engine_replay_continues(struct dh_task *t)
{
    struct dh_engine *e = dh_engine;
    bool exactly = e->control->job.mode == DH_ENGINE_REPLAY && !(e->flags & (DH_ENGINE_TRAP | DH_ENGINE_LOOSE));
    if (!exactly || e->executing != t->index || e->end != DH_ENGINE_NO_END)
        return false;
    e->current = NULL;
    finish_step(e);
    bool same = false;
    if (look(e) && e->depth < e->depth_max) {
        struct dh_moment m = dh_engine_choice_point(e);
        struct dh_choice c = e->strategy->choose(e->strategy_self, &m);
        same = c.thread == t->index && possible(e, c) && start_step(e, c);
    }
    e->current = t;
    return same;
}

static void run_schedule(struct dh_engine *e)
{
    while (e->end == DH_ENGINE_NO_END) {
        if (!look(e)) {
            dh_schedule_ends_blocked();
            return;
        }
        if (e->depth >= e->depth_max || (e->satisfied && e->flags & DH_ENGINE_STOP_AT_FIRST)) {
            e->end = DH_ENGINE_CUT;
            return;
        }
        struct dh_moment m = dh_engine_choice_point(e);
        struct dh_choice c = e->strategy->choose(e->strategy_self, &m);
        if (!possible(e, c)) {
            e->end = DH_ENGINE_CUT;
            return;
        }
        go_on(e, c);
    }
}

/* ---- all of them ---- */

static enum dh_schedule_end in_short(const struct dh_engine *e)
{
    if (e->end == DH_ENGINE_DONE || e->end == DH_ENGINE_WRONG)
        return DH_END_DONE;
    if (e->end == DH_ENGINE_CUT)
        return DH_END_CUT;
    return e->end == DH_ENGINE_DEADLOCK || e->end == DH_ENGINE_LOST_WAKE ? DH_END_BLOCKED : DH_END_FAILED;
}

/* Of a schedule, until main was the only thread left. */
static void note_work(const struct dh_engine *e, struct dh_engine_progress *p)
{
    bool alone = true;
    for (uint32_t i = 1; i < e->n_tasks; i++)
        alone = alone && e->actors[i].ended;
    if (p->n_works < DH_ENGINE_WORKS)
        p->works[p->n_works++] = alone ? e->work : dh_engine_work(e);
}

static void count(struct dh_engine *e)
{
    struct dh_engine_progress *p = &e->control->progress;
    p->schedules++;
    p->steps += e->depth;
    if (e->end == DH_ENGINE_DONE || e->end == DH_ENGINE_WRONG) {
        uint64_t operations = e->operations + e->depth;
        p->operations += operations;
        note_work(e, p);
        p->operations_most = operations > p->operations_most ? operations : p->operations_most;
    }
    p->ends[e->end]++;
    p->ends[DH_ENGINE_RACE] += e->raced != 0;
    p->ends[DH_ENGINE_UNORDERED] += e->raced_unordered != 0;
    p->depth_last = e->depth;
    if (e->depth > p->depth_most)
        p->depth_most = e->depth;
    if (e->n_tasks > p->threads_most)
        p->threads_most = e->n_tasks;
}

static void end_schedule(struct dh_engine *e)
{
    e->running = false;
    dh_adversary_end();
    dh_outcome_end();
    dh_schedule_ends_record();
    count(e);
    struct dh_moment m = dh_engine_choice_point(e);
    e->strategy->end(e->strategy_self, in_short(e), &m);
    if (e->signal && !e->carrier->is_kernel)
        dh_signals_restore_mask();
}

/* What the strategy says of itself. */
static void tell_statistics(const struct dh_engine *e)
{
    const struct dh_statistics *s = &e->search.statistics;
    struct dh_engine_progress *p = &e->control->progress;
    p->redundant = s->redundant;
    p->bounded = s->bounded;
    p->nondeterministic = s->diverged;
    p->unfair = s->unfair;
    p->no_memory = s->no_memory;
    if (e->coverage)
        dh_coverage_count(e->coverage, &p->pairs, &p->both);
}

/* The budget and the tool's wishes; time is asked for now and then. */
static void stop_if_asked(struct dh_engine *e)
{
    const struct dh_engine_job *job = &e->control->job;
    struct dh_engine_progress *p = &e->control->progress;
    if (__atomic_load_n(&e->control->stop, __ATOMIC_RELAXED) || (e->flags & DH_ENGINE_STOP_AT_FIRST && e->satisfied))
        dh_engine_finish(DH_ENGINE_STOPPED);
    if (job->schedules_max && p->schedules >= job->schedules_max)
        dh_engine_finish(DH_ENGINE_SPENT);
    if (p->schedules % CLOCK_EVERY && e->depth < 1000)
        return;
    p->now_ns = dh_clock_monotonic_ns();
    p->cpu_ns = dh_clock_process_cpu_ns();
    tell_statistics(e);
    if (job->time_max_ns && p->now_ns - p->begun_ns >= job->time_max_ns)
        dh_engine_finish(DH_ENGINE_SPENT);
}

static enum dh_engine_state final_state(const struct dh_engine *e)
{
    bool replays = e->control->job.mode == DH_ENGINE_REPLAY;
    if (replays && e->flags & DH_ENGINE_LOOSE)
        return DH_ENGINE_REPLAYED;
    if (replays && e->depth < e->control->job.prefix_length)
        e->control->progress.diverged_at = e->depth;
    return !replays                                   ? DH_ENGINE_SPENT
           : e->depth < e->control->job.prefix_length ? DH_ENGINE_DIVERGED
                                                      : DH_ENGINE_REPLAYED;
}

/* In the thread that ends the process, while the engine waits. */
void dh_engine_conclude(void)
{
    struct dh_engine *e = dh_engine;
    struct dh_engine_progress *p = &e->control->progress;
    if (!e->running)
        return;
    e->last = e->current ? e->current->index : UINT32_MAX;
    end_schedule(e);
    p->status = e->signal ? -e->signal : e->status;
    p->now_ns = dh_clock_monotonic_ns();
    p->cpu_ns = dh_clock_process_cpu_ns();
    __atomic_store_n(&p->state, final_state(e), __ATOMIC_RELEASE);
    dh_engine_on = false;
    dh_syscalls_allow(true);
}

/* The child's memory, mappings and descriptors die with it; offsets of files it shares. */
static void run_in_child(struct dh_engine *e)
{
    int status = 0;
    long child = dh_kernel_call(SYS_fork, 0, 0, 0, 0, 0, 0);
    if (child < 0)
        dh_engine_cannot("no child can be made");
    if (child == 0) {
        dh_syscalls_begin();
        dh_watchdog_begin();
        run_schedule(e);
        end_schedule(e);
        dh_undo_all();
        dh_kernel_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
    }
    dh_kernel_call(SYS_wait4, child, (long)&status, 0, 0, 0, 0);
    if (status)
        dh_engine_cannot("a child ended with status %d", status);
    if (__atomic_load_n(&e->control->progress.state, __ATOMIC_ACQUIRE) != DH_ENGINE_RUNNING)
        dh_kernel_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

static void run_here(struct dh_engine *e)
{
    run_schedule(e);
    end_schedule(e);
    if (e->carrier->is_kernel)
        dh_engine_finish(final_state(e));
    dh_undo_all();
    dh_mappings_restore();
    dh_snapshot_restore();
}

void dh_engine_loop(void)
{
    struct dh_engine *e = dh_engine;
    struct dh_engine_progress *p = &e->control->progress;
    p->begun_ns = dh_clock_monotonic_ns();
    if (!e->carrier->is_kernel)
        dh_watchdog_begin();
    bool forks = e->flags & DH_ENGINE_FORK && !e->carrier->is_kernel;
    if (!forks && !e->carrier->is_kernel && !dh_snapshot_take((uintptr_t)e->tasks[0].sp))
        dh_engine_cannot("no memory for the snapshot");
    e->first_task = e->tasks[0];
    p->begun_ns = p->now_ns = dh_clock_monotonic_ns();
    __atomic_store_n(&p->state, DH_ENGINE_RUNNING, __ATOMIC_RELEASE);
    for (;;) {
        if (!e->strategy->begin(e->strategy_self)) {
            tell_statistics(e);
            if (dh_adversary_next_pass()) {
                dh_engine_restart_strategy();
                continue;
            }
            dh_engine_finish(DH_ENGINE_EXHAUSTED);
        }
        begin_schedule(e);
        (forks ? run_in_child : run_here)(e);
        stop_if_asked(e);
        if (dh_hb_check_extend_visible())
            dh_engine_restart_strategy();
    }
}
