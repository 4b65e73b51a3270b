#include "runtime/engine/system/time/time.h"

#include "runtime/engine/primitives/primitives.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/time/timers.h"
#include "runtime/engine/tasks/task.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <sys/resource.h>

#define SECOND 1000000000ull

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    dh_kernel_call(SYS_clock_gettime, clock, (long)&t, 0, 0, 0, 0);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

uint64_t dh_clock_monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t dh_clock_process_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Both have passed for the kernel, at which waits before the snapshot have their deadlines. */
enum { WALL_AT_START = 1000000000, MONO_AT_START = 1 };

void dh_virtual_time_start(void)
{
    dh_engine->started_ns = dh_clock_monotonic_ns();
    dh_engine->wall_base_ns = WALL_AT_START * SECOND;
    dh_engine->mono_base_ns = MONO_AT_START * SECOND;
}

void dh_virtual_time_at_snapshot(void)
{
    dh_engine->mono_base_ns += dh_engine->now_ns;
    dh_engine->wall_base_ns += dh_engine->now_ns;
    dh_engine->now_ns = 0;
}

/* Before the snapshot sleeping takes real time, and a thread that waits for a time must see it pass. Who reads the
 * clock now and then does not wait: the times it gets do not depend on the machine's load. Whole seconds only, since
 * run times differ from run to run. */
static void catch_up(void)
{
    enum { WAITING = 200 /* readings */ };
    static uint32_t readings;
    if (++readings < WAITING)
        return;
    uint64_t real = dh_clock_monotonic_ns() - dh_engine->started_ns;
    dh_virtual_time_advance(real - real % SECOND);
}

static bool is_wall(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

uint64_t dh_virtual_time_of(clockid_t clock, const struct timespec *until)
{
    uint64_t base = is_wall(clock) ? dh_engine->wall_base_ns : dh_engine->mono_base_ns;
    uint64_t at = until->tv_sec < 0 ? 0 : (uint64_t)until->tv_sec * SECOND + (uint64_t)until->tv_nsec;
    return at > base ? at - base : 0;
}

void dh_virtual_time_advance(uint64_t until)
{
    if (until > dh_engine->now_ns)
        dh_engine->now_ns = until;
    if (dh_engine_on && dh_timers_are_armed())
        dh_timers_advance(dh_engine->now_ns);
}

/* ---- when waits end by themselves ---- */

bool dh_virtual_time_ends(const struct dh_step *s)
{
    return s->kind == DH_STEP_SLEEP || s->flags & DH_STEP_TIMED;
}

uint64_t dh_virtual_time_wakes(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    if (!dh_virtual_time_ends(s))
        return UINT64_MAX;
    uint64_t due = s->kind == DH_STEP_IO && t->io_due ? t->io_due(t) : UINT64_MAX;
    return due < t->deadline ? due : t->deadline;
}

/* The alternative of the step that is the end of its time. */
static uint32_t end_of_time(const struct dh_step *s)
{
    return s->kind == DH_STEP_SLEEP ? 1 : 2;
}

bool dh_virtual_time_is_end(const struct dh_task *t, uint32_t alternative)
{
    const struct dh_step *s = dh_task_step(t);
    return alternative < 2 && dh_virtual_time_ends(s) && !dh_signals_is_taken_by(t->index, alternative) &&
           end_of_time(s) == 1u << alternative;
}

uint32_t dh_virtual_time_allows(const struct dh_task *t, uint32_t alternatives)
{
    const struct dh_step *s = dh_task_step(t);
    if (!dh_virtual_time_ends(s) || !(alternatives & end_of_time(s)) || dh_engine->hurries)
        return alternatives;
    uint64_t wakes = dh_virtual_time_wakes(t);
    bool is_far = wakes > dh_engine->now_ns && wakes - dh_engine->now_ns > DH_FAR_NS;
    return is_far ? alternatives & ~end_of_time(s) : alternatives;
}

bool dh_virtual_time_is_awaited(const struct dh_engine *e, uint32_t i)
{
    const struct dh_actor *a = &e->actors[i];
    if (a->ended || !a->alternatives || !dh_virtual_time_ends(&a->step) ||
        e->tasks[i].signal_alternative != DH_NO_SIGNAL)
        return false;
    return a->step.kind == DH_STEP_SLEEP || !a->enabled;
}

static bool is_ready(const struct dh_engine *e, uint32_t i)
{
    const struct dh_actor *a = &e->actors[i];
    return !a->ended && a->enabled && !a->yields && !dh_virtual_time_is_awaited(e, i);
}

static bool is_anybody_ready(const struct dh_engine *e)
{
    for (uint32_t i = 0; i < e->n_tasks; i++)
        if (is_ready(e, i))
            return true;
    return false;
}

/* The one that time wakes first; UINT32_MAX: none. */
static uint32_t first_to_wake(const struct dh_engine *e)
{
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < e->n_tasks; i++)
        if (dh_virtual_time_is_awaited(e, i) &&
            (first == UINT32_MAX || dh_virtual_time_wakes(&e->tasks[i]) < dh_virtual_time_wakes(&e->tasks[first])))
            first = i;
    return first;
}

/* A task whose time has come interrupts the others; one that comes again and again does so every other time. */
void dh_virtual_time_keep_order(struct dh_engine *e)
{
    uint32_t first = first_to_wake(e);
    if (first == UINT32_MAX)
        return;
    bool is_awake = dh_virtual_time_wakes(&e->tasks[first]) <= e->now_ns && e->last != first;
    bool goes_on = is_awake || !is_anybody_ready(e);
    for (uint32_t i = 0; i < e->n_tasks; i++)
        if (i != first || !goes_on)
            if (dh_virtual_time_is_awaited(e, i) || is_awake)
                e->actors[i].enabled = e->actors[i].alternatives = 0;
}

/* In a short schedule steps take no time, so that orders of independent steps make no difference to clocks. In a long
 * one they take more and more: threads that work until another one has slept come to an end. */
uint64_t dh_virtual_time_of_step(uint32_t depth)
{
    enum { SHORT = 2048, LONG = 4 * SHORT, LONGER = 4 * LONG };
    const uint64_t us = 1000;
    return depth < SHORT ? 0 : depth < LONG ? 10 * us : depth < LONGER ? 100 * us : 1000 * us;
}

/* Who slept long enough is no longer behind those that work. */
void dh_virtual_time_wake_starved(struct dh_engine *e)
{
    enum { EVERY = 64 };
    if (!dh_virtual_time_of_step(e->depth) || e->depth % EVERY || !is_anybody_ready(e))
        return;
    for (uint32_t i = 0; i < e->n_tasks; i++)
        if (!e->actors[i].ended && e->actors[i].step.kind == DH_STEP_SLEEP && e->tasks[i].deadline <= e->now_ns)
            e->actors[i].yields = 0;
}

/* ---- clocks and sleeping ---- */

enum { TICK = 10000 }; /* nanoseconds per reading: a loop that polls the clock ends */

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
}

/* Of other threads and processes. */
static int real_clock(clockid_t clock, struct timespec *out)
{
    long result = dh_kernel_call(SYS_clock_gettime, clock, (long)out, 0, 0, 0, 0);
    if (result < 0)
        errno = (int)-result;
    return result < 0 ? -1 : 0;
}

int dh_engine_clock_gettime(clockid_t clock, struct timespec *out)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME_COARSE &&
        clock != CLOCK_MONOTONIC_COARSE && clock != CLOCK_MONOTONIC_RAW && clock != CLOCK_BOOTTIME &&
        clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID && clock != CLOCK_TAI)
        return real_clock(clock, out);
    bool used = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
    uint64_t base = used ? 0 : is_wall(clock) ? dh_engine->wall_base_ns : dh_engine->mono_base_ns;
    dh_engine->now_ns += TICK;
    if (!dh_engine_on)
        catch_up();
    *out = timespec_of(base + dh_engine->now_ns);
    return 0;
}

int dh_engine_gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec t;
    (void)zone;
    dh_engine_clock_gettime(CLOCK_REALTIME, &t);
    *out = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return 0;
}

time_t dh_engine_time(time_t *out)
{
    struct timespec t;
    dh_engine_clock_gettime(CLOCK_REALTIME, &t);
    if (out)
        *out = t.tv_sec;
    return t.tv_sec;
}

clock_t dh_engine_clock(void)
{
    struct timespec t;
    dh_engine_clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * CLOCKS_PER_SEC + t.tv_nsec / (long)(SECOND / CLOCKS_PER_SEC);
}

int dh_engine_timespec_get(struct timespec *out, int base)
{
    if (base != TIME_UTC)
        return 0;
    dh_engine_clock_gettime(CLOCK_REALTIME, out);
    return base;
}

/* ---- as system calls, past libc ---- */

long dh_time_call_clock(long number, const long a[6])
{
    (void)number;
    return dh_engine_clock_gettime((clockid_t)a[0], (struct timespec *)a[1]) == 0 ? 0 : -errno;
}

long dh_time_call_day(long number, const long a[6])
{
    (void)number;
    return a[0] ? dh_engine_gettimeofday((struct timeval *)a[0], NULL) : 0;
}

long dh_time_call_time(long number, const long a[6])
{
    (void)number;
    return dh_engine_time((time_t *)a[0]);
}

/* The time used is virtual; how much memory was used is not answered. */
long dh_time_call_usage(long number, const long a[6])
{
    struct rusage *out = (struct rusage *)a[1];
    uint64_t now = dh_engine->now_ns;
    (void)number;
    dh_bytes_zero(out, sizeof *out);
    out->ru_utime = (struct timeval){(time_t)(now / SECOND), (long)(now % SECOND / 1000)};
    return 0;
}

/* Other threads may be arbitrarily slow: a sleeping task is always enabled. EINTR: a handler ended it. */
static int sleep_until(uint64_t deadline)
{
    dh_task_cancel_point();
    dh_engine_self()->deadline = deadline;
    if (dh_signals_park_at(DH_STEP_SLEEP, 0, NULL, NULL, NULL, DH_ENDS) == DH_INTERRUPTED)
        return EINTR;
    dh_virtual_time_advance(deadline);
    dh_task_cancel_point();
    return 0;
}

static uint64_t time_left(uint64_t deadline)
{
    return deadline > dh_engine->now_ns ? deadline - dh_engine->now_ns : 0;
}

static uint64_t from_now(const struct timespec *t)
{
    return dh_engine->now_ns + (t->tv_sec < 0 ? 0 : (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec);
}

int dh_engine_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    if (!dh_timespec_is_valid(time) || time->tv_sec < 0)
        return EINVAL;
    bool absolute = flags & TIMER_ABSTIME;
    uint64_t deadline = absolute ? dh_virtual_time_of(clock, time) : from_now(time);
    int error = sleep_until(deadline);
    if (error == EINTR && left && !absolute)
        *left = timespec_of(time_left(deadline));
    return error;
}

int dh_engine_nanosleep(const struct timespec *time, struct timespec *left)
{
    int error = dh_engine_clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
    if (error)
        errno = error;
    return error ? -1 : 0;
}

int dh_engine_usleep(useconds_t time)
{
    int error = sleep_until(dh_engine->now_ns + time * 1000ull);
    if (error)
        errno = error;
    return error ? -1 : 0;
}

unsigned dh_engine_sleep(unsigned time)
{
    uint64_t deadline = dh_engine->now_ns + time * SECOND;
    return sleep_until(deadline) ? (unsigned)((time_left(deadline) + SECOND / 2) / SECOND) : 0;
}

int dh_engine_thrd_sleep(const struct timespec *time, struct timespec *left)
{
    int error = dh_engine_clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
    return error == EINTR ? -1 : error ? -2 : 0;
}

int dh_engine_sched_yield(void)
{
    dh_engine_park_at(DH_STEP_YIELD, 0, NULL, NULL, NULL);
    return 0;
}

void dh_engine_thrd_yield(void)
{
    dh_engine_sched_yield();
}
