/* Clocks and yielding: libc's own, unless the engine decides which thread runs and what time it is. */
#include "runtime/interpose/interpose.h"

#define BY_ENGINE_IF(condition, result, name, parameters, arguments)                                                   \
    static result dh_interposed_##name parameters                                                                      \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        if (__builtin_expect(condition, 0))                                                                            \
            return dh_engine_##name arguments;                                                                         \
        return dh_real.name arguments;                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);
#define BY_ENGINE(...) BY_ENGINE_IF(dh_engine_on, __VA_ARGS__)
/* Before the first thread, too: what time it was then is seen later. */
#define CLOCK(...) BY_ENGINE_IF(dh_engine != NULL, __VA_ARGS__)

CLOCK(int, clock_gettime, (clockid_t clock, struct timespec *out), (clock, out))
CLOCK(int, gettimeofday, (struct timeval *restrict out, void *restrict zone), (out, zone))
CLOCK(time_t, time, (time_t *out), (out))
CLOCK(clock_t, clock, (void), ())
CLOCK(int, timespec_get, (struct timespec * out, int base), (out, base))
BY_ENGINE(int, sched_yield, (void), ())
BY_ENGINE(int, pthread_setcancelstate, (int state, int *before), (state, before))
BY_ENGINE(int, pthread_setcanceltype, (int type, int *before), (type, before))

static void dh_interposed_thrd_yield(void)
{
    dh_interpose_ready();
    if (dh_engine_on)
        dh_engine_thrd_yield();
    else
        dh_real.thrd_yield();
}
DH_INTERPOSE(thrd_yield);

static void dh_interposed_pthread_exit(void *value)
{
    dh_interpose_ready();
    if (dh_engine_on)
        dh_engine_pthread_exit(value);
    dh_real.pthread_exit(value);
}
DH_INTERPOSE(pthread_exit);

static void dh_interposed_thrd_exit(int value)
{
    dh_interpose_ready();
    if (dh_engine_on)
        dh_engine_pthread_exit((void *)(intptr_t)value);
    dh_real.thrd_exit(value);
}
DH_INTERPOSE(thrd_exit);
