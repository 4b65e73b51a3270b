/* The main loop of stateless model checking: show the strategy all actors, let the chosen one execute its step, until
 * the schedule ends; record the end, restore the program, start the next schedule. */
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
#include "runtime/engine/system/children.h"
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
    e->actors[0] = (struct dh_actor){.step = e->first_step, .enabled = 1, .alternatives = 1};
    e->alternatives[0] = NULL;
    e->n_tasks = 1;
    e->last = UINT32_MAX;
    e->depth = 0;
    e->end = DH_ENGINE_NO_END;
    e->signal = e->status = 0;
    e->fault_address = 0;
    e->pending_races = 0;
    e->now_ns = 0;
    dh_occurrence_counts_reset();
    dh_occurrence_counts_next(0, e->first_step.site);
    dh_found_ends_set_text("");
    e->unordered_races = 0;
    e->idle_steps = e->idle_from = 0;
    dh_livelock_stop();
    e->search.reached = false;
    e->commands = 0;
    e->operations = e->yielding_steps = e->work = 0;
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
    e->random_state = e->control->job.seed;
    e->running = true;
}

/* Updates which actors are enabled; false: none has an alternative. */
static bool update_enabled(struct dh_engine *e)
{
    bool any = false;
    for (uint32_t i = 0; i < e->n_tasks; i++) {
        struct dh_actor *a = &e->actors[i];
        if (a->ended)
            continue;
        dh_engine_alternatives *alternatives = e->alternatives[i];
        if (alternatives) {
            uint32_t bits = alternatives(&e->tasks[i]);
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

static bool is_possible(const struct dh_engine *e, struct dh_choice c)
{
    if (c.thread >= e->n_tasks && !dh_drains_is_actor(e, c.thread))
        return false;
    const struct dh_actor *a = &e->actors[c.thread];
    if (c.alternative & DH_ENGINE_FUTURE)
        return !a->ended && a->enabled && e->control->job.mode == DH_ENGINE_REPLAY;
    return !a->ended && (c.alternative ? c.alternative < a->alternatives : a->enabled);
}

static void record_decision(struct dh_engine *e, struct dh_choice c)
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

/* Was an enabled task not chosen since the idle steps began? The others may wait for it. */
static bool is_any_starved(const struct dh_engine *e)
{
    for (uint32_t i = 0; i < e->n_tasks; i++)
        if (!e->actors[i].ended && e->actors[i].enabled && e->tasks[i].decision < e->idle_from)
            return true;
    return false;
}

/* Livelock: only yielding steps, by tasks that all came back to an earlier state. Spinning weighs more than sleeping,
 * since a working thread may take many short naps. A task whose state never recurred may still come to an end: the
 * schedule is cut only after CHANCES times as many steps. */
static bool is_livelocked(struct dh_engine *e, const struct dh_actor *a)
{
    bool slow = a->step.kind == DH_STEP_SLEEP || (a->step.kind == DH_STEP_YIELD && a->step.object);
    uint64_t most = IDLE_MOST + 64ull * e->n_tasks;
    if (!a->yields) {
        e->idle_from = e->depth;
        e->idle_steps = 0;
        dh_livelock_stop();
        return false;
    }
    e->idle_steps += slow ? 1 : 8;
    if (e->idle_steps >= most / 2 && !dh_livelock_is_watching())
        dh_livelock_watch(e);
    if (e->idle_steps < most)
        return false;
    bool starves = is_any_starved(e), hangs = !starves && dh_livelock_of_all(e);
    if (!starves && !hangs && e->idle_steps < CHANCES * most)
        return false;
    e->end = hangs ? DH_ENGINE_HANG : DH_ENGINE_CUT;
    return true;
}

/* False: the schedule is over, as a livelock. */
static bool start_step(struct dh_engine *e, struct dh_choice c)
{
    if (e->heuristic_picks && dh_adversary_serves(&e->actors[c.thread].step))
        c.alternative = dh_adversary_pick(c.thread, &e->actors[c.thread].step);
    record_decision(e, c);
    e->yielding_steps +=
        e->actors[c.thread].step.kind == DH_STEP_YIELD || e->actors[c.thread].step.kind == DH_STEP_SLEEP;
    e->executed = e->actors[c.thread].step;
    e->executing = c.thread;
    e->order_pending = true;
    e->step_finished = false;
    e->tasks[c.thread].alternative = c.alternative;
    e->turns++;
    return !is_livelocked(e, &e->actors[c.thread]);
}

static void finish_step(struct dh_engine *e)
{
    uint32_t thread = e->executing;
    dh_hb_check_executed();
    e->last = thread;
    e->step_finished = true;
    if (e->coverage)
        dh_coverage_step(e->coverage, thread, &e->executed);
    e->strategy->done(e->strategy_self, thread, e->tasks[thread].alternative, &e->executed);
}

static void execute(struct dh_engine *e, struct dh_choice c)
{
    if (!start_step(e, c))
        return;
    if (dh_drains_is_actor(e, c.thread)) {
        e->order_pending = false;
        dh_drains_step(c.thread);
        finish_step(e);
        return;
    }
    e->carrier->resume(&e->tasks[c.thread]);
    if (!e->step_finished)
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
    if (update_enabled(e) && e->depth < e->depth_max) {
        struct dh_decision m = dh_engine_choice_point(e);
        struct dh_choice c = e->strategy->choose(e->strategy_self, &m);
        same = c.thread == t->index && is_possible(e, c) && start_step(e, c);
    }
    e->current = t;
    return same;
}

static void run_schedule(struct dh_engine *e)
{
    while (e->end == DH_ENGINE_NO_END) {
        if (!update_enabled(e)) {
            dh_schedule_ends_blocked();
            return;
        }
        if (e->depth >= e->depth_max || (e->goal_reached && e->flags & DH_ENGINE_STOP_AT_FIRST)) {
            e->end = DH_ENGINE_CUT;
            return;
        }
        struct dh_decision m = dh_engine_choice_point(e);
        struct dh_choice c = e->strategy->choose(e->strategy_self, &m);
        if (!is_possible(e, c)) {
            e->end = DH_ENGINE_CUT;
            return;
        }
        execute(e, c);
    }
}

/* ---- all of them ---- */

static enum dh_schedule_end end_for_strategy(const struct dh_engine *e)
{
    if (e->end == DH_ENGINE_DONE || e->end == DH_ENGINE_WRONG)
        return DH_END_DONE;
    if (e->end == DH_ENGINE_CUT)
        return DH_END_CUT;
    return e->end == DH_ENGINE_DEADLOCK || e->end == DH_ENGINE_LOST_WAKE ? DH_END_BLOCKED : DH_END_FAILED;
}

/* Operations of a schedule until main was the only thread left. */
static void count_work(const struct dh_engine *e, struct dh_engine_progress *p)
{
    bool alone = true;
    for (uint32_t i = 1; i < e->n_tasks; i++)
        alone = alone && e->actors[i].ended;
    if (p->n_works < DH_ENGINE_WORKS)
        p->works[p->n_works++] = alone ? e->work : dh_engine_work(e);
}

static void count_schedule(struct dh_engine *e)
{
    struct dh_engine_progress *p = &e->control->progress;
    p->schedules++;
    p->steps += e->depth;
    if (e->end == DH_ENGINE_DONE || e->end == DH_ENGINE_WRONG) {
        uint64_t operations = e->operations + e->depth;
        p->operations += operations;
        count_work(e, p);
        p->operations_most = operations > p->operations_most ? operations : p->operations_most;
    }
    p->ends[e->end]++;
    p->ends[DH_ENGINE_RACE] += e->pending_races != 0;
    p->ends[DH_ENGINE_UNORDERED] += e->unordered_races != 0;
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
    count_schedule(e);
    struct dh_decision m = dh_engine_choice_point(e);
    e->strategy->end(e->strategy_self, end_for_strategy(e), &m);
    if (e->signal && !e->carrier->is_kernel)
        dh_signals_restore_mask();
}

static void report_statistics(const struct dh_engine *e)
{
    const struct dh_search_statistics *s = &e->search.statistics;
    struct dh_engine_progress *p = &e->control->progress;
    p->redundant = s->redundant;
    p->bounded = s->bounded;
    p->nondeterministic = s->diverged;
    p->unfair = s->unfair;
    p->no_memory = s->no_memory;
    if (e->coverage)
        dh_coverage_count(e->coverage, &p->pairs, &p->both);
}

/* Budgets and the tool's request to stop; the clock is read every CLOCK_EVERY schedules. */
static void stop_if_asked(struct dh_engine *e)
{
    const struct dh_engine_job *job = &e->control->job;
    struct dh_engine_progress *p = &e->control->progress;
    if (__atomic_load_n(&e->control->stop, __ATOMIC_RELAXED) || (e->flags & DH_ENGINE_STOP_AT_FIRST && e->goal_reached))
        dh_engine_finish(DH_ENGINE_STOPPED);
    if (job->schedules_max && p->schedules >= job->schedules_max)
        dh_engine_finish(DH_ENGINE_SPENT);
    if (p->schedules % CLOCK_EVERY && e->depth < 1000)
        return;
    p->now_ns = dh_clock_monotonic_ns();
    p->cpu_ns = dh_clock_process_cpu_ns();
    report_statistics(e);
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

/* In the task that ends the process, while the engine waits. */
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

/* Memory, mappings and descriptors of the child vanish with it; it shares the offsets of files. */
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
    dh_children_end();
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
            report_statistics(e);
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
