/* Timers that call a function in a new thread (SIGEV_THREAD). As libc has it, a thread waits for them and creates the
 * others; libc's own would be made past the engine. */
#include "runtime/engine/primitives/primitives.h"

#include "runtime/engine/system/time/timers.h"

#include <errno.h>

enum { FUNCTIONS = 128 };

static struct {
    void (*function[FUNCTIONS])(union sigval);
    union sigval value[FUNCTIONS];
    pthread_attr_t attributes[FUNCTIONS];
    bool has_attributes[FUNCTIONS];
    uint32_t n;
    bool has_waiter;
} calls;

static uint32_t when_due(const struct dh_task *t)
{
    (void)t;
    return dh_timers_thread_is_due();
}

static void *run(void *number)
{
    uint32_t i = (uint32_t)(uintptr_t)number;
    calls.function[i](calls.value[i]);
    return NULL;
}

static void call_in_thread(uint32_t i)
{
    pthread_attr_t own;
    pthread_t thread;
    if (calls.has_attributes[i])
        own = calls.attributes[i];
    else
        pthread_attr_init(&own);
    pthread_attr_setdetachstate(&own, PTHREAD_CREATE_DETACHED);
    dh_engine_pthread_create(&thread, &own, run, (void *)(uintptr_t)i);
}

static void *wait_for_timers(void *unused)
{
    dh_engine_self()->is_daemon = true;
    for (;;) {
        dh_engine_park_at(DH_STEP_DELIVER, 0, NULL, NULL, when_due);
        call_in_thread(dh_timers_expire_thread());
    }
    return unused;
}

static int start_waiter(void)
{
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    return dh_engine_pthread_create(&thread, &detached, wait_for_timers, NULL);
}

int dh_engine_timer_create_thread(clockid_t clock, const struct sigevent *event, timer_t *out)
{
    uint32_t i = calls.n;
    int error = i == FUNCTIONS ? EAGAIN : calls.has_waiter ? 0 : start_waiter();
    int id = error ? -error : dh_timers_create_thread(clock, i);
    if (id < 0) {
        errno = -id;
        return -1;
    }
    calls.has_waiter = true;
    calls.function[i] = event->sigev_notify_function;
    calls.value[i] = event->sigev_value;
    calls.has_attributes[i] = event->sigev_notify_attributes;
    if (event->sigev_notify_attributes)
        calls.attributes[i] = *event->sigev_notify_attributes;
    calls.n = i + 1;
    *out = (timer_t)(intptr_t)id;
    return 0;
}
