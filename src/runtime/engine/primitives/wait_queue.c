/* Wait queues of conditions, barriers and futexes. */
#include "runtime/engine/primitives/primitives.h"

#include "runtime/engine/tasks/task.h"

enum { ALTERNATIVES_MOST = 16 };

static uint32_t when_woken(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    const void *mutex = (const void *)(uintptr_t)s->second;
    if (mutex && !t->mutex_is_free(mutex))
        return 0;
    if (t->woken || (t->cancellable && dh_task_is_cancelled(t)))
        return 1;
    bool spurious = mutex && dh_engine->flags & DH_ENGINE_SPURIOUS;
    if (s->flags & DH_STEP_TIMED)
        return spurious ? 6 : 2;
    return spurious ? 2 : 0;
}

static bool is_free(const void *mutex)
{
    return dh_engine_mutex_is_free(mutex);
}

uint32_t dh_wait_queue_sleep(const void *object, const pthread_mutex_t *mutex, unsigned flags)
{
    return dh_wait_queue_sleep_for(object, mutex, flags, is_free);
}

uint32_t dh_wait_queue_sleep_for(const void *object, const void *mutex, unsigned flags,
                                 bool (*mutex_is_free)(const void *mutex))
{
    struct dh_task *t = dh_engine_self();
    t->waits_at = object;
    t->mutex_is_free = mutex_is_free;
    t->woken = false;
    struct dh_step s = {.kind = DH_STEP_WAKE,
                        .flags = (uint16_t)flags,
                        .site = dh_task_step(t)->site, /* of the call that sleeps */
                        .object = (uint64_t)(uintptr_t)object,
                        .second = (uint64_t)(uintptr_t)mutex};
    dh_engine->alternatives[t->index] = when_woken;
    uint32_t alternative = dh_engine_park(&s);
    t->waits_at = NULL;
    return alternative;
}

static bool is_asleep(const struct dh_task *t, const void *object)
{
    return t->waits_at == object && !t->woken && !t->ended;
}

unsigned dh_wait_queue_length(const void *object)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        n += is_asleep(&dh_engine->tasks[i], object);
    return n;
}

void dh_wait_queue_wake(const void *object, unsigned which)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if (is_asleep(&dh_engine->tasks[i], object) && !which--) {
            dh_engine->tasks[i].woken = true;
            return;
        }
}

void dh_wait_queue_wake_all(const void *object)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if (is_asleep(&dh_engine->tasks[i], object))
            dh_engine->tasks[i].woken = true;
}

uint32_t dh_wait_queue_wake_alternatives(const struct dh_task *t)
{
    unsigned n = dh_wait_queue_length((const void *)(uintptr_t)dh_task_step(t)->object);
    return n < 2 ? 1 : (1u << (n < ALTERNATIVES_MOST ? n : ALTERNATIVES_MOST)) - 1;
}
