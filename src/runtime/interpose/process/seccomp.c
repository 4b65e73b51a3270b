/* Programs that shut themselves in (seccomp), by prctl or by the system call: from then on a call that the program
 * would not make itself may be its end, so the runtime asks the kernel for nothing but what the program must allow. */
#include "runtime/core/threads.h"
#include "runtime/deadlock/deadlock.h"
#include "runtime/interpose/interpose.h"
#include "runtime/interpose/io/channels.h"
#include "runtime/report/report.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/syscall.h>

static void shutting_in(void)
{
    if (dh_engine) /* it makes calls that the program would not */
        dh_engine_cannot_do("a seccomp filter of its own", (uintptr_t)__builtin_frame_address(0));
    dh_channels_settle();
    dh_deadlock_stop();
    dh_report_set_sandboxed(true);
}

static int dh_interposed_prctl(int option, ...)
{
    unsigned long a[4];
    va_list ap;
    va_start(ap, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(ap, unsigned long);
    va_end(ap);
    dh_interpose_ready();
    if (dh_engine_on && (option == PR_SET_NAME || option == PR_GET_NAME))
        return dh_engine_prctl_name(option, (char *)a[0]);
    bool was_alone = dh_report_is_sandboxed();
    if (option == PR_SET_SECCOMP)
        shutting_in();
    int result = dh_real.prctl(option, a[0], a[1], a[2], a[3]);
    if (option == PR_SET_SECCOMP && result != 0 && !was_alone)
        dh_report_set_sandboxed(false);
    if (option == PR_SET_NAME && result == 0)
        dh_thread_set_name(__dh_thread.thread, (const char *)a[0]);
    return result;
}
DH_INTERPOSE(prctl);

/* Without a filter the call is a question whether there could be one. */
static bool shuts_in(long number, long first, long third)
{
    if (number == SYS_prctl)
        return first == PR_SET_SECCOMP;
    return number == SYS_seccomp && (first == SECCOMP_SET_MODE_STRICT || (first == SECCOMP_SET_MODE_FILTER && third));
}

__attribute__((used)) static void *way_to_call(long number, long first, __attribute__((unused)) long second, long third)
{
    dh_interpose_ready();
    if (__builtin_expect(shuts_in(number, first, third), 0))
        shutting_in();
    return (void *)dh_real.syscall;
}

/* A jump, not a call: a new thread may come out of it on another stack. */
__attribute__((naked)) static long dh_interposed_syscall(__attribute__((unused)) long number, ...)
{
    __asm__("push %rdi\n"
            "push %rsi\n"
            "push %rdx\n"
            "push %rcx\n"
            "push %r8\n"
            "push %r9\n"
            "sub $8, %rsp\n"
            "call way_to_call\n"
            "add $8, %rsp\n"
            "pop %r9\n"
            "pop %r8\n"
            "pop %rcx\n"
            "pop %rdx\n"
            "pop %rsi\n"
            "pop %rdi\n"
            "jmp *%rax\n");
}
DH_INTERPOSE(syscall);
