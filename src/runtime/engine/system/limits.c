/* Limits of the process: getrlimit, setrlimit, prlimit64. What the program sets lies in memory that is rolled back and
 * is the answer from then on; of descriptors it is also what holds. Limits that the kernel alone could make hold
 * are not changed: that cannot be undone. */
#include "runtime/engine/system/files/file.h"

#include "runtime/engine/system/files/file_content.h"
#include "runtime/engine/system/files/file_steps.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/user_memory.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIMITS = RLIM_NLIMITS };

/* Of this schedule. */
static struct set {
    bool is_set;
    struct rlimit limit;
} sets[LIMITS];

/* What happens in a search does not depend on these, or on a model of ours: no core is dumped, the kernel's stacks are
 * there, nothing looks at the others. */
static const bool is_known[LIMITS] = {
    [RLIMIT_NOFILE] = true, [RLIMIT_CORE] = true, [RLIMIT_STACK] = true, [RLIMIT_RSS] = true, [RLIMIT_LOCKS] = true};

static struct rlimit current(unsigned long resource)
{
    struct rlimit limit = {0};
    if (sets[resource].is_set)
        return sets[resource].limit;
    dh_kernel_call(SYS_prlimit64, 0, (long)resource, 0, (long)&limit, 0, 0);
    if (resource == RLIMIT_NOFILE)
        limit.rlim_cur = dh_contents_descriptor_limit();
    return limit;
}

uint64_t dh_limits_descriptors(void)
{
    uint64_t ours = dh_contents_descriptor_limit();
    return sets[RLIMIT_NOFILE].is_set && sets[RLIMIT_NOFILE].limit.rlim_cur < ours ? sets[RLIMIT_NOFILE].limit.rlim_cur
                                                                                   : ours;
}

static bool may_raise(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return dh_kernel_call(SYS_capget, (long)&head, (long)have, 0, 0, 0, 0) == 0 &&
           (have[0].effective & 1u << CAP_SYS_RESOURCE);
}

static bool is_same(struct rlimit a, struct rlimit b)
{
    return a.rlim_cur == b.rlim_cur && a.rlim_max == b.rlim_max;
}

static long set(long number, unsigned long resource, struct rlimit old, struct rlimit to)
{
    if (to.rlim_cur > to.rlim_max)
        return -EINVAL;
    if (to.rlim_max > old.rlim_max && !may_raise())
        return -EPERM;
    if (!is_same(old, to) && !is_known[resource])
        return dh_syscalls_cannot(number);
    sets[resource] = (struct set){.is_set = true, .limit = to};
    return 0;
}

long dh_limits(long number, const long a[6])
{
    bool by_process = number == SYS_prlimit64;
    unsigned long resource = (unsigned long)(by_process ? a[1] : a[0]);
    long from = by_process ? a[2] : number == SYS_setrlimit ? a[1] : 0;
    long old_at = by_process ? a[3] : number == SYS_getrlimit ? a[1] : 0;
    struct rlimit to;
    if (by_process && a[0] && a[0] != dh_kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0))
        return from ? dh_syscalls_cannot(number) : dh_syscalls_pass_through(number, a);
    if (resource >= LIMITS)
        return -EINVAL;
    if (from && !dh_user_read(&to, from, sizeof to))
        return -EFAULT;
    dh_names_step(from);
    struct rlimit old = current(resource);
    long result = from ? set(number, resource, old, to) : 0;
    if (result == 0 && (old_at || number == SYS_getrlimit) && !dh_user_write(old_at, &old, sizeof old))
        return -EFAULT;
    return result;
}
