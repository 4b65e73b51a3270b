#include "runtime/engine/processes/fresh_processes.h"

#include "runtime/core/start.h"
#include "runtime/engine/processes/children.h"
#include "runtime/engine/processes/relatives.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/interpose/real.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

enum { POLL_NS = 200000, SEEK_SET_ = 0, SEEK_CUR_ = 1 };
#define OVERTIME_NS 1000000000ull /* that a child may take to end after its time */

static struct dh_engine_progress *progress(void)
{
    return &dh_engine->control->progress;
}

static bool is_over(void)
{
    return __atomic_load_n(&progress()->state, __ATOMIC_ACQUIRE) >= DH_ENGINE_FINISHED;
}

static uint64_t elapsed_ns(void)
{
    return dh_clock_monotonic_ns() - progress()->begun_ns;
}

/* The search is over: by request, by the number of schedules, or by time. */
static bool is_spent(enum dh_engine_state *how)
{
    const struct dh_engine_job *job = &dh_engine->control->job;
    bool stopped = __atomic_load_n(&dh_engine->control->stop, __ATOMIC_RELAXED) ||
                   (dh_engine->flags & DH_ENGINE_STOP_AT_FIRST && dh_engine->goal_reached);
    *how = stopped ? DH_ENGINE_STOPPED : DH_ENGINE_SPENT;
    return stopped || (job->schedules_max && progress()->schedules >= job->schedules_max) ||
           (job->time_max_ns && elapsed_ns() >= job->time_max_ns);
}

/* What the child allocated is zeroed for the next one. */
static void discard_keep(char *from, char *lasting)
{
    uintptr_t low = ((uintptr_t)from + DH_ENGINE_PAGE - 1) & ~(uintptr_t)(DH_ENGINE_PAGE - 1);
    uintptr_t high = ((uintptr_t)dh_engine->keep + DH_ENGINE_PAGE - 1) & ~(uintptr_t)(DH_ENGINE_PAGE - 1);
    for (char *at = from; at < (char *)low && at < dh_engine->keep; at++)
        *at = 0;
    if (high > low)
        dh_kernel_call(SYS_madvise, (long)low, (long)(high - low), MADV_REMOVE, 0, 0, 0);
    dh_engine->keep = from;
    dh_engine->lasting = lasting;
}

static void become_child(void)
{
    dh_process.pid = (int)dh_kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    dh_kernel_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
    dh_engine->carrier = NULL;
    dh_children_forget();
    dh_virtual_time_start();
}

static void judge_status(int status)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        dh_engine_cannot("a schedule's process was killed from outside");
    if (WIFSIGNALED(status))
        dh_engine_cannot("a process ended with signal %d, without a schedule", WTERMSIG(status));
    dh_engine_cannot("a process ended with status %d, without a schedule", WEXITSTATUS(status));
}

/* Until it has ended; one that outlives the search is killed: its schedule does not count. */
static int await_child(long child, bool *outlived)
{
    const struct timespec pause = {0, POLL_NS};
    enum dh_engine_state how;
    uint64_t since = 0;
    int status = 0;
    long ended;
    while ((ended = dh_kernel_call(SYS_wait4, child, (long)&status, WNOHANG, 0, 0, 0)) == 0 || ended == -EINTR) {
        dh_kernel_call(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
        if (!is_spent(&how) && !is_over())
            continue;
        since = since ? since : dh_clock_monotonic_ns();
        if (dh_clock_monotonic_ns() - since > OVERTIME_NS)
            dh_kernel_call(SYS_kill, child, SIGKILL, 0, 0, 0, 0);
    }
    *outlived = since != 0;
    return status;
}

/* Every child reads standard input from where it was. */
static void run_child(long input)
{
    char *from = dh_engine->keep, *lasting = dh_engine->lasting;
    uint64_t schedules = progress()->schedules;
    if (input >= 0)
        dh_kernel_call(SYS_lseek, 0, input, SEEK_SET_, 0, 0, 0);
    long child = dh_real._Fork();
    if (child < 0)
        dh_engine_cannot("no child can be made");
    if (child == 0) {
        become_child();
        return;
    }
    bool outlived;
    int status = await_child(child, &outlived);
    if (!is_over() && !outlived && progress()->schedules == schedules)
        judge_status(status);
    discard_keep(from, lasting);
}

void dh_fresh_processes_serve(void)
{
    long input = dh_kernel_call(SYS_lseek, 0, 0, SEEK_CUR_, 0, 0, 0), self = dh_process.pid;
    enum dh_engine_state how;
    dh_relatives_begin();
    dh_engine_start_strategy();
    progress()->begun_ns = progress()->now_ns = dh_clock_monotonic_ns();
    __atomic_store_n(&progress()->state, DH_ENGINE_RUNNING, __ATOMIC_RELEASE);
    while (!is_over() && !is_spent(&how)) {
        run_child(input);
        if (dh_process.pid != self)
            return;
    }
    if (!is_over())
        dh_engine_finish(how);
    dh_kernel_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}
