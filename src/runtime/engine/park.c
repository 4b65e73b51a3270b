/* Visible operations: a task publishes its next step and waits until the strategy chooses it. */
#include "runtime/engine/engine.h"

#include "runtime/core/thread_state.h"
#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/checks/livelock.h"
#include "runtime/engine/checks/quarantine.h"
#include "runtime/engine/checks/spin_loops.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/tasks/task.h"

#define FLUSHES (1u << 30) /* flushes at a place are counted apart from its accesses */

uint32_t dh_engine_call_place(void)
{
    uint32_t place = __dh_thread.place;
    __dh_thread.place = DH_PLACE_NONE;
    return place == DH_PLACE_NONE ? 0 : place;
}

static bool is_access(const struct dh_step *s)
{
    return s->kind >= DH_STEP_READ && s->kind <= DH_STEP_COPY;
}

/* Two conflicting accesses that are both pending race. */
static void find_pending_races(const struct dh_task *t, const struct dh_step *s)
{
    struct dh_engine *e = dh_engine;
    if (!(e->look_for & 1u << DH_ENGINE_RACE))
        return;
    for (uint32_t i = 0; i < e->n_tasks; i++) {
        const struct dh_actor *other = &e->actors[i];
        if (i == t->index || other->ended || !is_access(&other->step) || !dh_steps_race(s, &other->step))
            continue;
        uint32_t pair[2] = {i, t->index};
        e->pending_races++;
        dh_found_ends_record_tasks(DH_ENGINE_RACE, pair, 2);
    }
}

/* Flushing a store buffer at a place must not change how often the thread came there. */
static uint32_t counted_at(const struct dh_step *s)
{
    return s->kind == DH_STEP_FLUSH ? s->site | FLUSHES : s->site;
}

/* Until it is chosen for its step; signals that it takes meanwhile are handled from here. */
static uint32_t await_turn(struct dh_task *t)
{
    for (;;) {
        t->is_parked = true;
        dh_engine->carrier->park(t);
        t->is_parked = false;
        t->decision = dh_engine->depth - 1;
        if (t->signal_alternative == DH_NO_SIGNAL)
            return t->alternative;
        if (t->alternative != t->signal_alternative) {
            t->signals_delayed++;
            return t->alternative;
        }
        if (dh_signals_take(t))
            return DH_INTERRUPTED;
    }
}

uint32_t dh_engine_park(const struct dh_step *step)
{
    struct dh_task *t = dh_engine->current;
    struct dh_actor *a = &dh_engine->actors[t->index];
    if (dh_adversary_is_on() && !is_access(step))
        dh_adversary_flush(step);
    dh_hb_check_executed();
    a->step = *step;
    a->step.occurrence = dh_occurrence_counts_next(t->index, counted_at(step));
    if (dh_engine->carrier->is_kernel)
        dh_syscalls_allow(false);
    t->invisible_accesses = 0;
    t->computed = step->kind == DH_STEP_YIELD ? t->computed : 0;
    t->last_place = step->site;
    if (is_access(step)) {
        a->yields = dh_spin_loops_at_access(t, &a->step);
        find_pending_races(t, &a->step);
    } else {
        a->yields = dh_spin_loops_at_sync(t, &a->step);
    }
    t->path_hash = 0;
    if (dh_livelock_is_watching())
        dh_livelock_check_task(t);
    uint32_t alternative = await_turn(t);
    dh_engine->alternatives[t->index] = NULL;
    if (t->cancel_pending && t->cancel_async)
        dh_task_cancel_point();
    return alternative;
}

uint32_t dh_engine_park_at_sync(enum dh_step_kind kind, unsigned flags, const void *object, const void *second,
                                dh_engine_alternatives *alternatives);
uint32_t dh_engine_park_at_sync(enum dh_step_kind kind, unsigned flags, const void *object, const void *second,
                                dh_engine_alternatives *alternatives)
{
    struct dh_step s = {
        .kind = (uint8_t)kind,
        .flags = (uint16_t)flags,
        .site = dh_engine_call_place(),
        .object = (uint64_t)(uintptr_t)object,
        .second = (uint64_t)(uintptr_t)second,
    };
    dh_engine->alternatives[dh_engine->current->index] = alternatives;
    uint32_t alternative = dh_engine_park(&s);
    if (kind >= DH_STEP_LOCK && kind <= DH_STEP_ONCE_END)
        dh_quarantine_check_access((uintptr_t)object, 1);
    return alternative;
}

DH_LIVELOCK_ENTRY("dh_engine_park_at", ".hidden dh_engine_park_at\n", "dh_engine_park_at_sync");
