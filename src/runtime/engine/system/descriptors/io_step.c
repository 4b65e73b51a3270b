#include "runtime/engine/system/descriptors/io_step.h"

#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/system/descriptors/description.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/engine/tasks/task.h"

bool dh_io_step(const struct dh_io *io)
{
    struct dh_task *t = dh_engine_self();
    bool timed = io->alternatives && io->timeout_ns > 0, comes = io->due && io->due(t) != DH_NEVER;
    struct dh_step s = {
        .kind = DH_STEP_IO,
        .order = io->touch,
        .flags = (uint16_t)(io->flags | (timed || comes ? DH_STEP_TIMED : 0) | (io->alternatives ? 0 : DH_STEP_TRY)),
        .object = (uint64_t)(uintptr_t)io->object,
        .second = (uint64_t)(io->fd + 1)};
    t->was_interrupted = false;
    if (io->alternatives)
        dh_signals_enter_wait();
    t->deadline = timed ? dh_engine->now_ns + (uint64_t)io->timeout_ns : DH_NEVER;
    s.site = dh_engine_call_place();
    dh_engine->alternatives[t->index] = io->alternatives;
    t->io_outside = io->outside;
    t->io_due = io->due;
    t->io_on = io->on;
    t->interrupts = !io->alternatives ? DH_GOES_ON : io->never_restarts ? DH_ENDS : DH_RESTARTS;
    uint32_t alternative = dh_engine_park(&s);
    t->interrupts = DH_GOES_ON;
    t->io_on = NULL;
    t->was_interrupted = alternative == DH_INTERRUPTED;
    if (alternative == 0 || t->was_interrupted)
        return true;
    uint64_t due = io->due ? io->due(t) : DH_NEVER, next = due < t->deadline ? due : t->deadline;
    if (next != DH_NEVER)
        dh_virtual_time_advance(next);
    return false;
}

static bool blocks_at(uint32_t i, long fd, const struct dh_description *d)
{
    const struct dh_task *t = &dh_engine->tasks[i];
    const struct dh_actor *a = &dh_engine->actors[i];
    return !a->ended && a->step.kind == DH_STEP_IO && t->io_on == d && t->io_args[0] == fd && !t->io_held &&
           dh_engine->alternatives[i] && !dh_engine->alternatives[i](t);
}

void dh_io_hold(long fd, struct dh_description *d)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if (blocks_at(i, fd, d)) {
            dh_description_keep(d);
            dh_engine->tasks[i].io_held = true;
        }
}

bool dh_io_was_closed(struct dh_description *d, struct dh_description **held)
{
    struct dh_task *t = dh_engine_self();
    if (!t->io_held)
        return false;
    t->io_held = false;
    *held = t->alternative ? d : NULL;
    if (!*held)
        dh_description_drop(d);
    return true;
}

bool dh_io_timed_out(void)
{
    return dh_engine->now_ns >= dh_engine_self()->deadline;
}

void dh_io_acquire(const void *object)
{
    struct dh_step s = {.kind = DH_STEP_IO, .flags = DH_STEP_READS, .object = (uint64_t)(uintptr_t)object};
    dh_hb_check_fence(&s);
}

void dh_io_release(const void *object)
{
    struct dh_step s = {.kind = DH_STEP_IO, .flags = DH_STEP_WRITES, .object = (uint64_t)(uintptr_t)object};
    dh_hb_check_fence(&s);
}

/* A wait that may only time out now gives way to others, as sleeping does. */
uint32_t dh_io_alternatives(const struct dh_task *t, bool ready, uint64_t due)
{
    bool wakes = ready || dh_task_is_cancelled(t);
    bool timed = t->deadline != DH_NEVER || due != DH_NEVER;
    dh_engine->actors[t->index].yields = timed && !wakes;
    return wakes ? 1 : timed ? 2 : 0;
}

bool dh_io_was_interrupted(void)
{
    dh_task_cancel_point();
    return dh_engine_self()->was_interrupted;
}

void dh_io_executed_on(int fd)
{
    if (dh_engine_self()->was_interrupted) /* the step is the handler's last one */
        return;
    dh_engine->executed.second = (uint64_t)(fd + 1);
}

void dh_io_failed(void)
{
    if (dh_engine_self()->was_interrupted)
        return;
    dh_engine_step_failed();
    dh_engine->executed.order &= (uint8_t)~(DH_IO_NUMBERS | DH_IO_CHANGES);
}
