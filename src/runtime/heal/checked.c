/* Services of healing in a checked program: detectors and the engine see its locks as the program's own. */
#include "runtime/heal/heal.h"

#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/core/thread_state.h"
#include "runtime/engine/primitives/thread_keys.h"
#include "runtime/interpose/primitives/locks.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"

#include "runtime/core/public_hooks.h"

#include <fcntl.h>

void *dh_heal_allocate(size_t size)
{
    return dh_alloc_forever(size);
}

void dh_heal_print(const char *text)
{
    dh_print("deadheat: process %d: %s\n", dh_process.pid, text);
}

int dh_heal_patience_ms(void)
{
    return dh_options.heal_patience_ms > 0 ? dh_options.heal_patience_ms : 1;
}

bool dh_heal_under_engine(void)
{
    return dh_engine_on;
}

int dh_heal_lock_try(struct dh_heal_lock *l, uint32_t place)
{
    __dh_call(place);
    int result = dh_real.pthread_mutex_trylock(&l->mutex);
    if (result == 0)
        dh_mutex_acquired(&l->mutex, 0, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
    return result;
}

int dh_heal_lock_acquire(struct dh_heal_lock *l, const struct timespec *until, uint32_t place)
{
    pthread_mutex_t *m = &l->mutex;
    __dh_call(place);
    if (!until)
        return dh_engine_pthread_mutex_lock(m);
    dh_lock_wait(m, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
    int result = DH_WAIT(dh_real.pthread_mutex_clocklock(m, CLOCK_MONOTONIC, until));
    if (result == 0)
        dh_mutex_acquired(m, 0, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
    return result;
}

void dh_heal_lock_release(struct dh_heal_lock *l, uint32_t place)
{
    pthread_mutex_t *m = &l->mutex;
    __dh_call(place);
    if (dh_engine_on) {
        dh_engine_pthread_mutex_unlock(m);
        return;
    }
    dh_lock_released(m, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
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

/* Opened for each line: the process may end at any time. */
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

void dh_heal_record_healed(const char *group)
{
    add_line(dh_options.heal_auto, group);
}

void dh_heal_record_failure(const char *group)
{
    add_line(dh_options.heal_failures, group);
}

void dh_heal_force_slow_path(void)
{
    __dh_thread.atom_fast = 0;
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

void dh_heal_sleep(long nanoseconds)
{
    struct timespec t = {0, nanoseconds};
    if (!nanoseconds)
        dh_syscall3(SYS_sched_yield, 0, 0, 0);
    else if (dh_engine_on)
        dh_engine_nanosleep(&t, NULL);
    else
        dh_syscall3(SYS_nanosleep, (long)&t, 0, 0);
}

void dh_heal_at_exit(void)
{
    if (dh_options.heal_monitor)
        dh_heal_print_counts();
}
