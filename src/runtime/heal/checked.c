/* Healing in a checked program: its locks are told to detectors and the engine like the program's own. */
#include "runtime/heal/heal.h"

#include "runtime/core/alloc.h"
#include "runtime/core/options.h"
#include "runtime/core/print.h"
#include "runtime/core/raw_syscall.h"
#include "runtime/core/start.h"
#include "runtime/core/thread_state.h"
#include "runtime/engine/primitives/thread_keys.h"
#include "runtime/interpose/locks.h"
#include "runtime/report/report.h"

#include "runtime/core/public_hooks.h"

#include <fcntl.h>

void *dh_heal_allocate(size_t size)
{
    return dh_alloc_forever(size);
}

void dh_heal_say(const char *text)
{
    dh_print("deadheat: process %d: %s\n", dh_process.pid, text);
}

int dh_heal_patience_ms(void)
{
    return dh_options.heal_patience_ms > 0 ? dh_options.heal_patience_ms : 1;
}

bool dh_heal_is_directed(void)
{
    return dh_engine_on;
}

int dh_heal_try(struct dh_heal_lock *l, uint32_t place)
{
    __dh_call(place);
    int result = dh_real.pthread_mutex_trylock(&l->mutex);
    if (result == 0)
        dh_mutex_taken(&l->mutex, 0, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
    return result;
}

int dh_heal_take(struct dh_heal_lock *l, const struct timespec *until, uint32_t place)
{
    pthread_mutex_t *m = &l->mutex;
    __dh_call(place);
    if (!until)
        return dh_engine_pthread_mutex_lock(m);
    dh_lock_waits(m, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
    int result = DH_WAIT(dh_real.pthread_mutex_clocklock(m, CLOCK_MONOTONIC, until));
    if (result == 0)
        dh_mutex_taken(m, 0, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
    return result;
}

void dh_heal_give(struct dh_heal_lock *l, uint32_t place)
{
    pthread_mutex_t *m = &l->mutex;
    __dh_call(place);
    if (dh_engine_on) {
        dh_engine_pthread_mutex_unlock(m);
        return;
    }
    dh_lock_given(m, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
    dh_real.pthread_mutex_unlock(m);
}

void dh_heal_pass_turnstile(sem_t *turnstile, uint32_t place)
{
    __dh_call(place);
    dh_engine_sem_wait(turnstile);
    dh_engine_sem_post(turnstile);
}

void dh_heal_open_turnstile(sem_t *turnstile, uint32_t place)
{
    __dh_call(place);
    dh_engine_sem_post(turnstile);
}

bool dh_heal_is_auto(void)
{
    return dh_options.heal_auto;
}

/* Opened and closed again: the program may be anywhere, and end at any time. */
static void add_line(const char *file, const char *group)
{
    long fd = file ? dh_sys_open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    struct dh_sink out;
    if (fd < 0)
        return;
    dh_sink_start(&out, (int)fd);
    dh_sink_printf(&out, "%s\n", group);
    dh_sink_flush(&out);
    dh_sys_close((int)fd);
}

void dh_heal_note(const char *group)
{
    add_line(dh_options.heal_auto, group);
}

void dh_heal_note_failure(const char *group)
{
    add_line(dh_options.heal_failures, group);
}

void dh_heal_look_closely(void)
{
    __dh_thread.atom_quick = 0;
}

void dh_heal_now(struct timespec *t)
{
    dh_syscall3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)t, 0);
}

bool dh_heal_make_key(pthread_key_t *key, void (*destructor)(void *))
{
    if (dh_real.pthread_key_create(key, destructor) != 0)
        return false;
    dh_thread_keys_register(*key, destructor);
    return true;
}

void dh_heal_nap(long nanoseconds)
{
    struct timespec t = {0, nanoseconds};
    if (!nanoseconds)
        dh_syscall3(SYS_sched_yield, 0, 0, 0);
    else if (dh_engine_on)
        dh_engine_nanosleep(&t, NULL);
    else
        dh_syscall3(SYS_nanosleep, (long)&t, 0, 0);
}
