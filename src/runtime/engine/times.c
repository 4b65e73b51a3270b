#include "runtime/engine/times.h"

#include "runtime/engine/raw.h"

#define SECOND 1000000000ull

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    dh_raw(SYS_clock_gettime, clock, (long)&t, 0, 0, 0, 0);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

uint64_t dh_times_real(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t dh_times_cpu(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void dh_times_begin(void)
{
    dh_engine->mono_base_ns = clock_ns(CLOCK_MONOTONIC);
    dh_engine->wall_base_ns = clock_ns(CLOCK_REALTIME);
    dh_engine->now_ns = 0;
}

static bool is_wall(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

uint64_t dh_times_until(clockid_t clock, const struct timespec *until)
{
    uint64_t base = is_wall(clock) ? dh_engine->wall_base_ns : dh_engine->mono_base_ns;
    uint64_t at = until->tv_sec < 0 ? 0 : (uint64_t)until->tv_sec * SECOND + (uint64_t)until->tv_nsec;
    return at > base ? at - base : 0;
}

void dh_times_pass(uint64_t until)
{
    if (until > dh_engine->now_ns)
        dh_engine->now_ns = until;
}
