/* The main loop of stateless model checking: show the strategy all actors, let the chosen one execute its step, until
 * the schedule ends; record the end, restore the program, start the next schedule. */
#include "runtime/engine/engine.h"

#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/adversary/drains.h"
#include "runtime/engine/checks/access_contexts.h"
#include "runtime/engine/checks/atomic_sections.h"
#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/checks/hidden_accesses.h"
#include "runtime/engine/checks/livelock.h"
#include "runtime/engine/checks/quarantine.h"
#include "runtime/engine/checks/stall.h"
#include "runtime/engine/checks/watchdog.h"
#include "runtime/engine/ends/outcome.h"
#include "runtime/engine/ends/schedule_ends.h"
#include "runtime/engine/hook_removal.h"
#include "runtime/engine/processes/children.h"
#include "runtime/engine/processes/fresh_processes.h"
#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/restore/undo.h"
#include "runtime/engine/schedule/start_point.h"
#include "runtime/engine/schedule/undisturbed.h"
#include "runtime/engine/system/files/file_mappings.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/memory.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/engine/system/time/timers.h"
#include "runtime/engine/tasks/coroutine.h"
#include "runtime/engine/tasks/serial_threads.h"

enum {
    CLOCK_EVERY = 64,
    IDLE_MOST = 32000,
    CHANCES = 64,
    HORIZON = 20000, /* steps of a schedule that begins in the middle */
    UNDISTURBED_MOST = 1 << 24,
    RECORDED_MOST = 3,    /* runs, later ones with more visible places or shorter quanta */
    RECORDED_HIDING = 16, /* each may meet a thread that waits for what is hidden */
    AFTER_EXTENSION = 64, /* schedules until the search begins anew */
};

/* ---- one schedule ---- */

static void begin_schedule(struct dh_engine *e)
{
    e->tasks[0] = e->first_task;
    e->actors[0] = (struct dh_actor){.step = e->first_step, .enabled = 1, .alternatives = 1};
    e->alternatives[0] = NULL;
    e->n_tasks = 1;
    e->last = UINT32_MAX;
    e->depth = e->in_row = 0;
    e->has_choice = false;
    e->is_even = false;
    e->end = DH_ENGINE_NO_END;
    e->signal = e->status = 0;
    e->is_abandoned = e->is_stalled = false;
    e->fault_address = 0;
    e->pending_races = 0;
    e->now_ns = 0;
    dh_occurrence_counts_reset();
    dh_occurrence_counts_next(0, e->first_step.site);
    dh_found_ends_set_text("");
    e->unordered_races = 0;
    e->idle_steps = e->idle_from = 0;
    dh_livelock_stop();
    dh_stall_begin();
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
    dh_hidden_accesses_next();
    dh_adversary_begin();
    e->running = true;
}

/* False: none has an alternative. */
static bool update_tasks(struct dh_engine *e)
{
    bool any = false, quiet = dh_signals_are_quiet();
    for (uint32_t i = 0; i < e->n_tasks; i++) {
        struct dh_actor *a = &e->actors[i];
        if (a->ended)
            continue;
        dh_engine_alternatives *alternatives = e->alternatives[i];
        e->asking = &e->tasks[i];
        uint32_t bits = dh_virtual_time_allows(&e->tasks[i], alternatives ? alternatives(&e->tasks[i]) : 1);
        if (!quiet || e->tasks[i].signal_alternative != DH_NO_SIGNAL)
            bits = dh_signals_alternatives(&e->tasks[i], bits);
        a->enabled = bits & 1;
        a->alternatives = bits ? (uint8_t)(32 - __builtin_clz(bits)) : 0;
        any |= a->alternatives;
    }
    return any;
}

/* What is far in the future comes when nothing else can happen. */
static bool hurry(struct dh_engine *e)
{
    dh_timers_hurry();
    e->hurries = true;
    bool any = update_tasks(e);
    e->hurries = false;
    return any;
}

/* Updates which actors are enabled; false: none has an alternative. Time passes when nothing else can happen. */
static bool update_enabled(struct dh_engine *e)
{
    dh_timers_wait();
    bool any = update_tasks(e);
    for (uint32_t i = 0; i < e->n_drains; i++)
        any |= e->actors[e->drains_from + i].enabled;
    any = any || hurry(e);
    if (any && (e->depth < e->undisturbed || e->flags & DH_ENGINE_IN_TIME))
        dh_virtual_time_keep_order(e);
    else if (any)
        dh_virtual_time_wake_starved(e);
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
    bool drains = dh_drains_is_actor(e, c.thread), takes = dh_signals_is_taken_by(c.thread, c.alternative);
    if (e->depth < e->undisturbed) {
        dh_undisturbed_step(e, c.thread);
        e->depth++;
        return;
    }
    e->trace[dh_engine_entries(e)] =
        (struct dh_engine_decision){.thread = drains ? dh_step_buffer_number(s) : c.thread,
                                    .place = s->site,
                                    .occurrence = s->occurrence,
                                    .alternative = drains ? dh_drains_piece(c.thread) : (uint16_t)c.alternative,
                                    .kind = takes ? DH_STEP_DELIVER : s->kind,
                                    .flags = (uint8_t)s->flags,
                                    .object = s->object};
    e->depth++;
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
    e->is_abandoned = !hangs;
    return true;
}

/* False: the schedule is over, as a livelock or stalled. */
static bool start_step(struct dh_engine *e, struct dh_choice c)
{
    if (e->heuristic_picks && dh_adversary_serves(&e->actors[c.thread].step) &&
        !dh_signals_is_taken_by(c.thread, c.alternative))
        c.alternative = dh_adversary_pick(c.thread, &e->actors[c.thread].step);
    if (e->records)
        dh_start_point_note(e, c.thread, &e->actors[c.thread].step);
    record_decision(e, c);
    if (dh_stall_step(e, c)) {
        dh_schedule_ends_stalled();
        return false;
    }
    e->in_row = c.thread == e->last ? e->in_row + 1 : 1;
    e->yielding_steps +=
        e->actors[c.thread].step.kind == DH_STEP_YIELD || e->actors[c.thread].step.kind == DH_STEP_SLEEP;
    if (!dh_drains_is_actor(e, c.thread) && !dh_signals_is_taken_by(c.thread, c.alternative))
        dh_access_contexts_begin_step(c.thread, &e->actors[c.thread].step);
    e->executed = e->actors[c.thread].step;
    e->executing = c.thread;
    e->order_pending = true;
    dh_hb_check_forget_self(e);
    e->step_finished = false;
    e->tasks[c.thread].alternative = c.alternative;
    e->now_ns += dh_virtual_time_of_step(e->depth);
    e->turns++;
    return !is_livelocked(e, &e->actors[c.thread]);
}

static void finish_step(struct dh_engine *e)
{
    uint32_t thread = e->executing;
    dh_hb_check_executed();
    e->last = thread;
    e->step_finished = true;
    if (e->depth <= e->undisturbed)
        return;
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

static struct dh_choice next_choice(struct dh_engine *e)
{
    if (e->depth < e->undisturbed)
        return dh_undisturbed_choose(e);
    struct dh_decision m = dh_engine_choice_point(e);
    return e->strategy->choose(e->strategy_self, &m);
}

bool dh_engine_undisturbed_continues(struct dh_task *t)
{
    struct dh_engine *e = dh_engine;
    if (e->depth >= e->undisturbed || e->executing != t->index || e->end != DH_ENGINE_NO_END ||
        !dh_undisturbed_goes_on(e, t))
        return false;
    e->current = NULL;
    finish_step(e);
    bool goes_on = start_step(e, (struct dh_choice){t->index, 0});
    e->current = t;
    return goes_on;
}

static bool is_too_long(const struct dh_engine *e)
{
    return dh_engine_chosen(e) >= e->depth_max || (e->depth < e->undisturbed && e->depth >= UNDISTURBED_MOST) ||
           (e->records && dh_start_point_is_late(e));
}

/* Whose turn it is, in e->choice. False: the schedule has ended, or nobody can go on. */
static bool choose_next(struct dh_engine *e)
{
    if (e->has_choice)
        return true;
    if (!update_enabled(e))
        return false;
    if (is_too_long(e) || (e->goal_reached && e->flags & DH_ENGINE_STOP_AT_FIRST)) {
        e->end = DH_ENGINE_CUT;
        e->is_abandoned = dh_engine_chosen(e) >= e->depth_max && !e->control->job.depth_max;
        return false;
    }
    e->choice = next_choice(e);
    e->has_choice = is_possible(e, e->choice);
    if (!e->has_choice)
        e->end = DH_ENGINE_CUT;
    return e->has_choice;
}

/* To its end, or up to that step. */
static void run_schedule(struct dh_engine *e, uint32_t until)
{
    while (e->end == DH_ENGINE_NO_END && e->depth < until) {
        if (choose_next(e)) {
            e->has_choice = false;
            execute(e, e->choice);
        } else if (e->end == DH_ENGINE_NO_END && !dh_serial_threads_await_kernel())
            dh_schedule_ends_blocked();
    }
}

/* Not where a debugger stops, or a witness is followed as far as it goes. */
static bool decides_in_task(const struct dh_engine *e)
{
    return e->control->job.mode == DH_ENGINE_REPLAY ? !(e->flags & (DH_ENGINE_TRAP | DH_ENGINE_LOOSE))
                                                    : dh_fresh_processes_search();
}

struct dh_task *dh_engine_next_task(const struct dh_task *t)
{
    struct dh_engine *e = dh_engine;
    if (!decides_in_task(e) || e->executing != t->index || e->end != DH_ENGINE_NO_END)
        return NULL;
    struct dh_task *parked = e->current, *next = NULL;
    e->current = NULL;
    finish_step(e);
    if (choose_next(e) && !dh_drains_is_actor(e, e->choice.thread)) {
        e->has_choice = false;
        next = start_step(e, e->choice) ? &e->tasks[e->choice.thread] : NULL;
    }
    e->current = next ? next : parked;
    return next;
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
    p->abandoned += e->is_abandoned && e->end == DH_ENGINE_CUT;
    p->ends[DH_ENGINE_RACE] += e->pending_races != 0;
    p->ends[DH_ENGINE_UNORDERED] += e->unordered_races != 0;
    if (e->depth > p->depth_most)
        p->depth_most = e->depth;
    if (e->n_tasks > p->threads_most)
        p->threads_most = e->n_tasks;
}

static void end_schedule(struct dh_engine *e)
{
    e->running = false;
    dh_schedule_ends_leave_out_watchdog();
    dh_adversary_end();
    dh_outcome_end();
    dh_schedule_ends_record();
    count_schedule(e);
    struct dh_decision m = dh_engine_choice_point(e);
    e->strategy->end(e->strategy_self, end_for_strategy(e), &m);
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
    bool short_of = e->depth < e->undisturbed || dh_engine_entries(e) < e->control->job.prefix_length;
    if (replays && short_of)
        e->control->progress.diverged_at = e->depth;
    return !replays ? DH_ENGINE_SPENT : short_of ? DH_ENGINE_DIVERGED : DH_ENGINE_REPLAYED;
}

/* Serial threads: the one schedule of the process is over. */
static void conclude_process(struct dh_engine *e)
{
    struct dh_engine_progress *p = &e->control->progress;
    p->now_ns = dh_clock_monotonic_ns();
    p->cpu_ns = dh_clock_process_cpu_ns();
    if (!dh_fresh_processes_search()) {
        __atomic_store_n(&p->state, final_state(e), __ATOMIC_RELEASE);
        return;
    }
    dh_children_end();
    report_statistics(e);
    if (dh_hb_check_extend_visible())
        dh_engine_restart_strategy();
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
    conclude_process(e);
    dh_engine_on = false;
    dh_signals_give_back();
    dh_syscalls_allow(true);
}

/* Memory, mappings and descriptors of the child vanish with it; it shares the offsets of files. */
static void in_child(struct dh_engine *e, void (*work)(struct dh_engine *))
{
    int status = 0;
    long child = dh_kernel_call(SYS_fork, 0, 0, 0, 0, 0, 0);
    if (child < 0)
        dh_engine_cannot("no child can be made");
    if (child == 0) {
        dh_syscalls_begin();
        dh_watchdog_begin();
        dh_shared_mappings_in_child();
        work(e);
        dh_undo_all();
        dh_kernel_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
    }
    dh_kernel_call(SYS_wait4, child, (long)&status, 0, 0, 0, 0);
    if (status)
        dh_engine_cannot("a child ended with status %d", status);
    if (__atomic_load_n(&e->control->progress.state, __ATOMIC_ACQUIRE) != DH_ENGINE_RUNNING)
        dh_kernel_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
    dh_hook_removal_take_over();
}

static void run_and_end(struct dh_engine *e)
{
    run_schedule(e, UINT32_MAX);
    end_schedule(e);
}

static void run_in_child(struct dh_engine *e)
{
    begin_schedule(e);
    in_child(e, run_and_end);
}

static void run_here(struct dh_engine *e)
{
    begin_schedule(e);
    run_schedule(e, UINT32_MAX);
    end_schedule(e);
    if (e->carrier->is_kernel && dh_fresh_processes_search()) {
        conclude_process(e);
        dh_kernel_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
    }
    if (e->carrier->is_kernel)
        dh_engine_finish(final_state(e));
    dh_children_end();
    dh_undo_all();
    dh_mappings_restore();
    dh_snapshot_restore();
}

/* ---- from the middle of a long run ---- */

/* Of a short one nothing is kept. */
static void record_run(struct dh_engine *e)
{
    e->records = true;
    e->undisturbed = UINT32_MAX;
    begin_schedule(e);
    run_schedule(e, UINT32_MAX);
    e->running = false;
    if (!dh_start_point_is_long(e)) {
        dh_hb_check_forget_extensions();
        return;
    }
    dh_schedule_ends_record();
    dh_start_point_hand_over(e);
}

static uint32_t find_start(struct dh_engine *e)
{
    unsigned most = e->hides ? RECORDED_HIDING : RECORDED_MOST;
    for (unsigned i = 0; i < most; i++) {
        dh_start_point_hand_over(e);
        in_child(e, record_run);
        dh_start_point_take_over(e);
        if (i + 1 == most)
            break;
        bool more = dh_hb_check_extend_visible(), fewer = dh_start_point_spare_busy(e);
        if (!dh_start_point_refine(e) && !more && !fewer)
            break;
    }
    return dh_start_point_choose(e);
}

/* The beginning that all schedules have in common. */
static void run_beginning(struct dh_engine *e)
{
    struct dh_engine_progress *p = &e->control->progress;
    begin_schedule(e);
    run_schedule(e, e->undisturbed);
    if (e->end != DH_ENGINE_NO_END) {
        p->nondeterministic++;
        dh_engine_finish(DH_ENGINE_SPENT);
    }
    e->search.depth_max = e->depth_max = e->depth_max < HORIZON ? e->depth_max : HORIZON;
    p->started_at = e->undisturbed;
    dh_undo_begin();
    dh_quarantine_begin_here();
}

static void run_rest(struct dh_engine *e)
{
    run_and_end(e);
    dh_start_point_hand_over(e);
}

static void run_from_start(struct dh_engine *e)
{
    e->search.reached = false;
    if (e->coverage)
        dh_coverage_begin(e->coverage);
    dh_hidden_accesses_next();
    in_child(e, run_rest);
    dh_start_point_take_over(e);
}

/* With other visible places the same number of steps leads elsewhere: another process must begin. */
static void end_if_extended(struct dh_engine *e)
{
    struct dh_engine_progress *p = &e->control->progress;
    if (!dh_hb_check_has_extensions() || (++p->again < AFTER_EXTENSION && !dh_hb_check_must_extend()))
        return;
    if (dh_hb_check_extend_visible())
        dh_engine_finish(DH_ENGINE_SPENT);
    p->again = 0;
}

/* ---- the search ---- */

/* Are schedules to begin there? Time that it took is not the search's, as far as there is more. */
static bool run_to_middle(struct dh_engine *e)
{
    bool wanted = dh_start_point_is_wanted(e);
    e->prepares = e->vanishes = wanted || e->undisturbed;
    if (wanted) {
        uint64_t known = e->control->job.start_quantum;
        e->quantum = known ? (uint32_t)known : DH_UNDISTURBED_QUANTUM;
        e->undisturbed = dh_start_point_known(e);
        e->undisturbed = e->undisturbed ? e->undisturbed : find_start(e);
    }
    if (e->undisturbed)
        run_beginning(e);
    e->prepares = false;
    e->vanishes = e->undisturbed;
    if (wanted || e->undisturbed)
        dh_start_point_forget_time(e);
    return e->undisturbed;
}

typedef void run_one(struct dh_engine *);

static run_one *prepare(struct dh_engine *e)
{
    if (e->carrier->is_kernel)
        return run_here;
    if (e->flags & DH_ENGINE_FORK) {
        e->vanishes = true;
        return run_in_child;
    }
    if (run_to_middle(e))
        return run_from_start;
    if (!dh_snapshot_take((uintptr_t)e->tasks[0].sp))
        dh_engine_cannot("no memory for the snapshot");
    return run_here;
}

void dh_engine_loop(void)
{
    struct dh_engine *e = dh_engine;
    struct dh_engine_progress *p = &e->control->progress;
    if (!dh_fresh_processes_search())
        p->begun_ns = p->now_ns = dh_clock_monotonic_ns();
    if (!e->carrier->is_kernel)
        dh_watchdog_begin();
    e->first_task = e->tasks[0];
    __atomic_store_n(&p->state, DH_ENGINE_RUNNING, __ATOMIC_RELEASE);
    run_one *run = prepare(e);
    for (;;) {
        if (!e->strategy->begin(e->strategy_self)) {
            report_statistics(e);
            if (dh_adversary_next_pass()) {
                dh_engine_restart_strategy();
                continue;
            }
            dh_engine_finish(DH_ENGINE_EXHAUSTED);
        }
        run(e);
        stop_if_asked(e);
        if (p->started_at)
            end_if_extended(e);
        else if (dh_hb_check_extend_visible())
            dh_engine_restart_strategy();
    }
}
