/* Locks and conditions of GLib, in its own words: a mutex is 0 when it is free, 1 when it is held, 2 when somebody
 * sleeps in the kernel for it, as GLib's own code may that is not modelled. */
#include "event/site.h"
#include "runtime/engine/primitives/futex.h"
#include "runtime/engine/primitives/primitives.h"

#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/ends/schedule_ends.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/time/time.h"

#include <linux/futex.h>
#include <sys/syscall.h>

enum { FREE, HELD, CONTENDED };

static bool is_free(const void *mutex)
{
    return __atomic_load_n((const int *)mutex, __ATOMIC_RELAXED) == FREE;
}

static uint32_t when_free(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    return s->flags & DH_STEP_TRY || is_free((const void *)(uintptr_t)s->object);
}

static bool acquire(void *mutex, unsigned flags)
{
    dh_engine_park_at(DH_STEP_LOCK, flags, mutex, NULL, when_free);
    if (!is_free(mutex)) {
        dh_engine_step_failed();
        return false;
    }
    __atomic_store_n((int *)mutex, HELD, __ATOMIC_SEQ_CST);
    return true;
}

static void release(void *mutex)
{
    const long wake[6] = {(long)(uintptr_t)mutex, FUTEX_WAKE_PRIVATE, 1};
    if (__atomic_exchange_n((int *)mutex, FREE, __ATOMIC_SEQ_CST) == CONTENDED)
        dh_futex(SYS_futex, wake);
}

void dh_engine_g_mutex_lock(void *mutex)
{
    acquire(mutex, 0);
}

int dh_engine_g_mutex_trylock(void *mutex)
{
    return acquire(mutex, DH_STEP_TRY);
}

void dh_engine_g_mutex_unlock(void *mutex)
{
    dh_engine_park_at(DH_STEP_UNLOCK, 0, mutex, NULL, NULL);
    release(mutex);
}

/* ---- conditions: no state of their own, waiters are in the wait queue ---- */

/* False: its time is over. */
static bool wait(void *cond, void *mutex, unsigned flags)
{
    dh_engine_park_at(DH_STEP_WAIT, flags, cond, mutex, NULL);
    release(mutex);
    uint32_t alternative = dh_wait_queue_sleep_for(cond, mutex, flags, is_free);
    __atomic_store_n((int *)mutex, HELD, __ATOMIC_SEQ_CST);
    if (alternative != 1 || !(flags & DH_STEP_TIMED))
        return true;
    dh_virtual_time_advance(dh_engine_self()->deadline);
    return false;
}

void dh_engine_g_cond_wait(void *cond, void *mutex)
{
    wait(cond, mutex, 0);
}

int dh_engine_g_cond_wait_until(void *cond, void *mutex, int64_t until)
{
    struct timespec at = {until / 1000000, until % 1000000 * 1000};
    dh_engine_self()->deadline = until < 0 ? 0 : dh_virtual_time_of(CLOCK_MONOTONIC, &at);
    return wait(cond, mutex, DH_STEP_TIMED);
}

static void note_if_lost(void *cond)
{
    if (dh_wait_queue_length(cond))
        return;
    dh_schedule_ends_lost_signal(cond);
    dh_engine_step_failed();
}

void dh_engine_g_cond_signal(void *cond)
{
    uint32_t which = dh_engine_park_at(DH_STEP_SIGNAL, 0, cond, NULL, dh_wait_queue_wake_alternatives);
    note_if_lost(cond);
    dh_wait_queue_wake(cond, which);
}

void dh_engine_g_cond_broadcast(void *cond)
{
    dh_engine_park_at(DH_STEP_BROADCAST, 0, cond, NULL, NULL);
    note_if_lost(cond);
    dh_wait_queue_wake_all(cond);
}

/* ---- what GLib's own code does: its futexes are steps, what it does without waiting is one before it ---- */

void dh_engine_glib_once_enters(const void *flag)
{
    dh_engine_park_at(DH_STEP_ONCE, 0, flag, NULL, NULL);
}

void dh_engine_glib_once_done(const void *flag, unsigned size)
{
    dh_engine_once_ends(flag);
    struct dh_step s = {.kind = DH_STEP_WRITE,
                        .order = DH_ORDER_RELEASE,
                        .flags = DH_STEP_WRITES | DH_STEP_ATOMIC,
                        .site = dh_task_step(dh_engine_self())->site,
                        .object = (uint64_t)(uintptr_t)flag,
                        .size = size};
    dh_engine_park(&s);
}

void dh_engine_meets(const void *object)
{
    dh_io_step_on(object, -1, true);
}

void dh_engine_met(const void *object)
{
    dh_io_acquire(object);
}

void dh_engine_leaves(const void *object)
{
    dh_io_release(object);
}

void dh_engine_library_meets(void)
{
    dh_engine->control->progress.uncovered |= DH_GAP_LIBRARY;
}
