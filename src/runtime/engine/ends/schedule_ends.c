#include "runtime/engine/ends/schedule_ends.h"

#include "runtime/core/frames.h"
#include "runtime/engine/checks/hidden_accesses.h"
#include "runtime/engine/checks/stall.h"
#include "runtime/engine/processes/fresh_processes.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/engine/system/time/timers.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <stdarg.h>

enum { LOST = 64, LARGEST = 1 << 30, CALLERS = 8, HELPERS = 64 };

/* The executable, as it lies in memory. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* The first conditions that were signalled in this schedule while no task waited. */
static struct lost_signals {
    const void *at[LOST];
    unsigned n;
} *lost;

bool dh_schedule_ends_init(void)
{
    lost = dh_keep_alloc(sizeof *lost);
    return lost;
}

void dh_schedule_ends_begin(void)
{
    lost->n = 0;
}

void dh_schedule_ends_lost_signal(const void *condition)
{
    if (lost->n < LOST)
        lost->at[lost->n++] = condition;
}

static bool was_lost(const void *condition)
{
    for (unsigned i = 0; i < lost->n; i++)
        if (lost->at[i] == condition)
            return true;
    return false;
}

static bool waits_for_signal(uint32_t i)
{
    const struct dh_actor *a = &dh_engine->actors[i];
    return !a->ended && !dh_engine->tasks[i].is_daemon && a->step.kind == DH_STEP_DELIVER &&
           dh_signals_come_from_outside(&dh_engine->tasks[i]);
}

/* A replay has seen no other schedule: the witness has an end that was called one because of them. */
bool dh_schedule_ends_is_helper(uint32_t i)
{
    const struct dh_engine_control *c = dh_engine->control;
    uint64_t known = __atomic_load_n(&c->progress.helpers, __ATOMIC_RELAXED);
    return waits_for_signal(i) && i < HELPERS && (c->job.mode == DH_ENGINE_REPLAY || known >> i & 1);
}

/* Those that the program itself told to end, too: nobody else sent them anything. In the control region, which
 * schedules that are children share. */
static void learn_helpers(const struct dh_engine *e)
{
    uint64_t helpers = 0;
    for (uint32_t i = 0; i < e->n_tasks && i < HELPERS; i++)
        helpers |= (uint64_t)(&e->tasks[i] != e->current && e->tasks[i].awaited_signal) << i;
    __atomic_fetch_or(&e->control->progress.helpers, helpers, __ATOMIC_RELAXED);
}

bool dh_schedule_ends_waits_for_outside(uint32_t i)
{
    const struct dh_task *t = &dh_engine->tasks[i];
    return t->call.arguments || (dh_engine->actors[i].step.kind == DH_STEP_IO && t->io_outside && t->io_outside(t)) ||
           (waits_for_signal(i) && !dh_schedule_ends_is_helper(i));
}

static bool waits_in_vain(uint32_t i)
{
    const struct dh_actor *a = &dh_engine->actors[i];
    return !a->ended && a->step.kind == DH_STEP_WAKE && !dh_engine->tasks[i].woken &&
           was_lost((const void *)(uintptr_t)a->step.object);
}

/* All tasks ended without exit: main left by pthread_exit, which is an exit with status 0. A call that the
 * kernel has not returned from, and another process, may do anything, unless threads wait for each other's locks: the
 * schedule is cut. So it is where helpers alone are left. */
void dh_schedule_ends_blocked(void)
{
    struct dh_engine *e = dh_engine;
    bool left = false, in_vain = false, outside = false, locked = false, helpers = false;
    for (uint32_t i = 0; i < e->n_tasks; i++) {
        const struct dh_actor *a = &e->actors[i];
        bool helps = dh_schedule_ends_is_helper(i);
        helpers |= helps;
        left |= !a->ended && !e->tasks[i].is_daemon && !helps;
        in_vain |= waits_in_vain(i);
        outside |= !a->ended && !e->tasks[i].is_daemon && dh_schedule_ends_waits_for_outside(i);
        locked |= !a->ended && a->step.kind == DH_STEP_LOCK;
    }
    e->is_abandoned = (outside && !locked) || (helpers && !left);
    e->end = e->is_abandoned ? DH_ENGINE_CUT
             : !left         ? DH_ENGINE_DONE
             : in_vain       ? DH_ENGINE_LOST_WAKE
                             : DH_ENGINE_DEADLOCK;
}

/* Of stuck tasks: all wait for locks; one waits for a signal that came before. */
void dh_schedule_ends_stalled(void)
{
    struct dh_engine *e = dh_engine;
    bool locked = true, in_vain = false;
    for (uint32_t i = 0; i < e->n_tasks; i++)
        if (dh_stall_is_stuck(e, i)) {
            locked &= e->actors[i].step.kind == DH_STEP_LOCK;
            in_vain |= waits_in_vain(i);
        }
    e->is_stalled = true;
    dh_found_ends_set_text("all others only time out, again and again");
    e->end = in_vain ? DH_ENGINE_LOST_WAKE : locked ? DH_ENGINE_DEADLOCK : DH_ENGINE_HANG;
}

/* What a schedule that cannot go on is about. */
static bool is_stuck_party(struct dh_engine *e, uint32_t i)
{
    if (e->is_stalled && e->end != DH_ENGINE_HANG)
        return dh_stall_is_stuck(e, i);
    return !e->actors[i].ended && !e->tasks[i].is_daemon && !dh_schedule_ends_is_helper(i);
}

/* A watchdog that a search woke too early says nothing about the program: such a schedule is left out. A replay does
 * what its witness says. */
void dh_schedule_ends_leave_out_watchdog(void)
{
    struct dh_engine *e = dh_engine;
    bool by_program = e->end == DH_ENGINE_ASSERTION || e->end == DH_ENGINE_CRASH || e->end == DH_ENGINE_DONE;
    if (!by_program || e->control->job.mode == DH_ENGINE_REPLAY || e->last >= e->n_tasks)
        return;
    int signal = dh_signals_timer_handler(&e->tasks[e->last]);
    if (!signal || !dh_timers_handler_ended(signal))
        return;
    e->end = DH_ENGINE_CUT;
    e->is_abandoned = true;
}

void dh_schedule_ends_record(void)
{
    struct dh_engine *e = dh_engine;
    uint32_t parties[DH_ENGINE_PARTIES], n = 0;
    bool whole = e->end == DH_ENGINE_DONE || e->end == DH_ENGINE_CUT; /* recorded for its decisions alone */
    if (whole && !(e->look_for & 1u << e->end))
        return;
    bool stuck = e->end == DH_ENGINE_DEADLOCK || e->end == DH_ENGINE_LOST_WAKE || e->end == DH_ENGINE_HANG;
    if (!stuck && !whole && dh_hidden_accesses_hide_failure())
        return;
    /* It ended after the step that it was parked at. */
    if (!stuck && e->last < e->n_tasks)
        e->actors[e->last].step.site = e->tasks[e->last].last_place;
    for (uint32_t i = 0; i < e->n_tasks && n < DH_ENGINE_PARTIES; i++)
        if (stuck ? is_stuck_party(e, i) : i == e->last && !whole)
            parties[n++] = i;
    dh_found_ends_record_tasks((enum dh_engine_end)e->end, parties, n);
}

void dh_engine_end_schedule(enum dh_engine_end how)
{
    struct dh_engine *e = dh_engine;
    e->end = how;
    e->last = e->current->index;
    e->carrier->leave();
    __builtin_unreachable();
}

static bool have_others(void)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if (&dh_engine->tasks[i] != dh_engine->current && !dh_engine->actors[i].ended && !dh_engine->tasks[i].is_daemon)
            return true;
    return false;
}

/* A handler of the program's for a fault or abort that exits: what failed is the fault. */
static void end_by_fault(int signal)
{
    dh_engine->signal = signal;
    if (!dh_engine->carrier->is_kernel)
        dh_engine_end_schedule(signal == SIGABRT ? DH_ENGINE_ASSERTION : DH_ENGINE_CRASH);
    dh_engine->end = signal == SIGABRT ? DH_ENGINE_ASSERTION : DH_ENGINE_CRASH;
    dh_engine_conclude();
}

void dh_engine_program_exits(int status)
{
    int fatal = dh_signals_fatal_handler(dh_engine->current);
    if (fatal) {
        end_by_fault(fatal);
        return;
    }
    dh_engine->status = status;
    if (have_others())
        dh_engine_park_at(DH_STEP_EXIT, 0, NULL, NULL, NULL);
    if (status == 0)
        learn_helpers(dh_engine);
    if (!dh_engine->carrier->is_kernel)
        dh_engine_end_schedule(DH_ENGINE_DONE);
    dh_engine->end = DH_ENGINE_DONE;
    dh_engine_conclude();
}

/* No destructor runs, no buffer is written. */
__attribute__((noreturn)) static void leave_process(int status)
{
    for (;;)
        dh_kernel_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

void dh_engine_finish(enum dh_engine_state state)
{
    struct dh_engine_progress *p = &dh_engine->control->progress;
    p->now_ns = dh_clock_monotonic_ns();
    p->cpu_ns = dh_clock_process_cpu_ns();
    p->is_exact = state == DH_ENGINE_EXHAUSTED && dh_engine->strategy->is_systematic && !p->bounded &&
                  !p->nondeterministic && !p->unfair && !p->no_memory && !p->uncovered && !p->narrowed &&
                  !p->abandoned && !p->lost && !p->started_at && !dh_fresh_processes_on();
    __atomic_store_n(&p->state, state, __ATOMIC_RELEASE);
    leave_process(0);
}

static void copy_stack(uint64_t *out, unsigned most)
{
    uint32_t known = dh_frames_known(&__dh_thread);
    for (unsigned i = 0; i < most && i < known; i++) {
        uintptr_t at = __dh_thread.frames[known - 1 - i].return_address;
        uintptr_t base = (uintptr_t)__ehdr_start;
        out[i] = at > base && at < base + LARGEST ? at - base : at;
    }
}

/* Once schedules came to their end without it, one that cannot go on is left out, and the search goes on. */
static bool may_leave_out(const struct dh_engine *e)
{
    const struct dh_engine_progress *p = &e->control->progress;
    return e->running && e->current && !e->carrier->is_kernel && !(e->flags & DH_ENGINE_FORK) &&
           p->schedules > p->abandoned;
}

void dh_engine_cannot(const char *fmt, ...)
{
    struct dh_sink text;
    va_list ap;
    va_start(ap, fmt);
    dh_sink_start(&text, -1);
    dh_sink_vprintf(&text, fmt, ap);
    va_end(ap);
    text.bytes[text.n < sizeof text.bytes ? text.n : sizeof text.bytes - 1] = 0;
    dh_text_copy(dh_engine->control->progress.text, sizeof dh_engine->control->progress.text, text.bytes);
    if (dh_engine->current)
        copy_stack(dh_engine->control->progress.stack, sizeof dh_engine->control->progress.stack / sizeof(uint64_t));
    if (may_leave_out(dh_engine)) {
        dh_engine->is_abandoned = true;
        dh_engine_end_schedule(DH_ENGINE_CUT);
    }
    __atomic_store_n(&dh_engine->control->progress.state, DH_ENGINE_CANNOT, __ATOMIC_RELEASE);
    leave_process(0);
}

/* Hooks know the places of some calls; of others the tool finds the caller among what looks like one. */
void dh_engine_cannot_do(const char *what, uintptr_t sp)
{
    uint32_t place = dh_engine_call_place();
    uint64_t at[CALLERS];
    char callers[CALLERS * 18] = "";
    unsigned n = sp && !place ? dh_call_stack_scan(sp, at, CALLERS) : 0;
    if (!n)
        dh_engine_cannot("%s at place %u", what,
                         place                ? place
                         : dh_engine->current ? dh_engine->current->last_place
                                              : 0);
    for (unsigned i = 0; i < n; i++) {
        size_t used = dh_text_length(callers);
        dh_print_text(callers + used, sizeof callers - used, " %lx", at[i]);
    }
    dh_engine_cannot("%s at callers%s", what, callers);
}
