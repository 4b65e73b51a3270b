#include "runtime/engine/checks/watchdog.h"

#include "runtime/engine/checks/hidden_accesses.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/platform/print.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>

enum { TICK_SIGNAL = 63, TICK_NS = 100000000, LIMIT_MS = 5000 };

static struct seen {
    uint64_t progress, since_ns, waited_ns;
} *seen;

uint64_t dh_watchdog_limit_ns(void)
{
    uint32_t ms = dh_engine->control->job.hang_ms;
    if (dh_engine->flags & DH_ENGINE_TRAP) /* under a debugger */
        return UINT64_MAX / 4;
    return (ms ? ms : LIMIT_MS) * 1000000ull;
}

/* "RAN WAITED TIMES" of the kernel's schedstat. */
static uint64_t processor_wait_ns(uint32_t thread)
{
    char path[48], text[96];
    uint64_t waited = 0;
    dh_print_text(path, sizeof path, "/proc/self/task/%u/schedstat", thread);
    long file = dh_kernel_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    long n = file < 0 ? 0 : dh_kernel_call(SYS_read, file, (long)text, sizeof text - 1, 0, 0, 0);
    if (file >= 0)
        dh_kernel_call(SYS_close, file, 0, 0, 0, 0, 0);
    text[n > 0 ? n : 0] = 0;
    const char *at = text;
    while (*at && *at != ' ')
        at++;
    for (at += *at == ' '; *at >= '0' && *at <= '9'; at++)
        waited = waited * 10 + (uint64_t)(*at - '0');
    return waited;
}

static uint64_t waited_so_far(void)
{
    return processor_wait_ns((uint32_t)dh_kernel_call(SYS_gettid, 0, 0, 0, 0, 0, 0));
}

bool dh_watchdog_is_patient(struct dh_patience *p)
{
    const struct dh_task *t = __atomic_load_n(&dh_engine->current, __ATOMIC_RELAXED);
    uint32_t depth = __atomic_load_n(&dh_engine->depth, __ATOMIC_RELAXED);
    uint64_t now = dh_clock_monotonic_ns();
    if (!t || depth != p->depth || t->tid != p->tid) {
        *p = (struct dh_patience){depth, t ? t->tid : 0, now, t ? processor_wait_ns(t->tid) : 0};
        return true;
    }
    return dh_engine->awaits_process ||
           now - p->since_ns - (processor_wait_ns(p->tid) - p->waited_ns) <= dh_watchdog_limit_ns();
}

/* How long the task has been running without a step. */
static uint64_t still_ns(uint64_t now)
{
    uint64_t still = now - seen->since_ns, waited = waited_so_far() - seen->waited_ns;
    return still > waited ? still - waited : 0;
}

/* On the alternate stack, wherever the program is. The engine itself never takes that long. */
static void tick(int signal)
{
    struct dh_engine *e = dh_engine;
    struct dh_engine_progress *p = &e->control->progress;
    uint64_t now = dh_clock_monotonic_ns(), progress = p->schedules * 1000003 + e->depth;
    (void)signal;
    p->now_ns = now;
    if (progress != seen->progress) {
        seen->progress = progress;
        seen->since_ns = now;
        seen->waited_ns = waited_so_far();
    }
    if (__atomic_load_n(&e->control->stop, __ATOMIC_RELAXED))
        dh_engine_finish(DH_ENGINE_STOPPED);
    if (!e->prepares && e->control->job.time_max_ns && now - p->begun_ns > e->control->job.time_max_ns)
        dh_engine_finish(DH_ENGINE_SPENT);
    if (!e->current || e->awaits_process)
        return;
    if (e->hides)
        dh_hidden_accesses_tick(still_ns(now), dh_watchdog_limit_ns());
    if (now - seen->since_ns > dh_watchdog_limit_ns() && still_ns(now) > dh_watchdog_limit_ns())
        dh_engine_end_schedule(DH_ENGINE_HANG);
}

void dh_watchdog_begin(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = TICK_SIGNAL};
    struct itimerspec every = {{0, TICK_NS}, {0, TICK_NS}};
    struct dh_kernel_sigaction a = {(void *)tick, SA_ONSTACK | SA_RESTART | SA_NODEFER | DH_SA_RESTORER,
                                    dh_signal_restorer, 0};
    int timer;
    if (!seen)
        seen = dh_keep_alloc(sizeof *seen);
    if (!seen || dh_kernel_call(SYS_rt_sigaction, TICK_SIGNAL, (long)&a, 0, 8, 0, 0) != 0 ||
        dh_kernel_call(SYS_timer_create, CLOCK_MONOTONIC, (long)&event, (long)&timer, 0, 0, 0) != 0)
        return;
    seen->since_ns = dh_clock_monotonic_ns();
    seen->waited_ns = waited_so_far();
    dh_kernel_call(SYS_timer_settime, timer, 0, (long)&every, 0, 0, 0);
}
