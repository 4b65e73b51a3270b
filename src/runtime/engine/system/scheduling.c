#include "runtime/engine/system/scheduling.h"

#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/raw_syscall.h"

#include <errno.h>
#include <sched.h>

long dh_scheduling_get(long number, const long a[6])
{
    long own[6] = {0, a[1], a[2], a[3], a[4], a[5]};
    return dh_syscalls_pass_through(number, own);
}

long dh_scheduling_get_priority(long number, const long a[6])
{
    long own[6] = {a[0], 0, a[2], a[3], a[4], a[5]};
    return dh_syscalls_pass_through(number, own);
}

long dh_scheduling_set_policy(long number, const long a[6])
{
    (void)number;
    bool real_time = a[1] == SCHED_FIFO || a[1] == SCHED_RR;
    return real_time && dh_kernel_call(SYS_geteuid, 0, 0, 0, 0, 0, 0) != 0 ? -EPERM : 0;
}
