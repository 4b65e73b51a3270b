/* Visible operations: a task says what it is about to do and waits until that is chosen. */
#include "runtime/engine/engine.h"

#include "runtime/core/thread_state.h"
#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/livelock.h"
#include "runtime/engine/ordering.h"
#include "runtime/engine/quarantine.h"
#include "runtime/engine/spinning.h"
#include "runtime/engine/system/signals.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/task.h"

#define FLUSHES (1u << 30) /* beside the number of a place */

uint32_t dh_engine_call_place(void)
{
    uint32_t place = __dh_thread.place;
    __dh_thread.place = DH_PLACE_NONE;
    return place == DH_PLACE_NONE ? 0 : place;
}

static bool accesses(const struct dh_step *s)
{
    return s->kind >= DH_STEP_READ && s->kind <= DH_STEP_COPY;
}

/* The others that are parked now are as pending as this one. */
static void look_for_race(const struct dh_task *t, const struct dh_step *s)
{
    struct dh_engine *e = dh_engine;
    if (!(e->look_for & 1u << DH_ENGINE_RACE))
        return;
    for (uint32_t i = 0; i < e->n_tasks; i++) {
        const struct dh_actor *other = &e->actors[i];
        if (i == t->index || other->ended || !accesses(&other->step) || !dh_steps_race(s, &other->step))
            continue;
        uint32_t pair[2] = {i, t->index};
        e->raced++;
        dh_found_record(DH_ENGINE_RACE, pair, 2);
    }
}

/* Whether a buffer is emptied at a place does not change how often the thread came there. */
static uint32_t counted_at(const struct dh_step *s)
{
    return s->kind == DH_STEP_FLUSH ? s->site | FLUSHES : s->site;
}

/* Between two steps, when the last one has been done: a handler may make steps of its own. */
static void be_interrupted(struct dh_task *t)
{
    dh_engine_ways **ways = &dh_engine->ways[t->index], *wanted = *ways;
    dh_ordering_executed();
    dh_signals_deliver(t);
    *ways = wanted;
}

uint32_t dh_engine_park(const struct dh_step *step)
{
    struct dh_task *t = dh_engine->current;
    struct dh_actor *a = &dh_engine->actors[t->index];
    if (t->signals & ~t->mask)
        be_interrupted(t);
    if (dh_adversary_is_on() && !accesses(step))
        dh_adversary_flush(step);
    dh_ordering_executed();
    a->step = *step;
    a->step.occurrence = dh_occurrences_next(t->index, counted_at(step));
    if (dh_engine->carrier->is_kernel)
        dh_syscalls_allow(false);
    t->quiet = 0;
    t->last_place = step->site;
    if (accesses(step)) {
        a->yields = dh_spinning_access(t, &a->step);
        look_for_race(t, &a->step);
    } else {
        a->yields = dh_spinning_other(t, &a->step);
    }
    t->path = 0;
    if (dh_recurrence_is_watching())
        dh_recurrence_look(t);
    dh_engine->carrier->park(t);
    t->decision = dh_engine->depth - 1;
    dh_engine->ways[t->index] = NULL;
    if (t->cancel_pending && t->cancel_async)
        dh_task_cancel_point();
    return t->alternative;
}

uint32_t dh_engine_arrive(enum dh_step_kind kind, unsigned flags, const void *object, const void *second,
                          dh_engine_ways *ways);
uint32_t dh_engine_arrive(enum dh_step_kind kind, unsigned flags, const void *object, const void *second,
                          dh_engine_ways *ways)
{
    struct dh_step s = {
        .kind = (uint8_t)kind,
        .flags = (uint16_t)flags,
        .site = dh_engine_call_place(),
        .object = (uint64_t)(uintptr_t)object,
        .second = (uint64_t)(uintptr_t)second,
    };
    dh_engine->ways[dh_engine->current->index] = ways;
    uint32_t alternative = dh_engine_park(&s);
    if (kind >= DH_STEP_LOCK && kind <= DH_STEP_ONCE_END)
        dh_freed_check((uintptr_t)object, 1);
    return alternative;
}

DH_RECURRENCE_ENTRY("dh_engine_at", ".hidden dh_engine_at\n", "dh_engine_arrive");
