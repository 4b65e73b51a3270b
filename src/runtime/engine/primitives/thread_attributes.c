/* Names and attributes of threads. libc asks /proc/self for those of other threads, and keeps them in the kernel's
 * threads: coroutines have none, so that a search would take other steps than its replay with kernel threads. */
#include "runtime/engine/primitives/primitives.h"

#include "runtime/core/threads.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/tasks/task.h"
#include "runtime/interpose/real.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { NAME = sizeof((struct dh_task *)NULL)->name };

/* ---- names ---- */

static void set_name(struct dh_task *t, const char *name)
{
    dh_text_copy(t->name, NAME, name);
    if (dh_thread_of_handle(t->fs))
        dh_thread_set_name(dh_thread_of_handle(t->fs), t->name);
    if (dh_engine->carrier->is_kernel && t == dh_engine->current)
        dh_kernel_call(SYS_prctl, PR_SET_NAME, (long)t->name, 0, 0, 0, 0); /* for a debugger */
}

/* Without one, a thread has the program's. */
static void copy_name(const struct dh_task *t, char out[NAME])
{
    if (t->name[0])
        dh_text_copy(out, NAME, t->name);
    else
        dh_text_copy(out, NAME, dh_engine->first_task.name);
}

int dh_engine_pthread_setname_np(pthread_t handle, const char *name)
{
    struct dh_task *t = dh_task_find_by_handle(handle);
    if (!t)
        return ESRCH;
    if (dh_text_length(name) >= NAME)
        return ERANGE;
    set_name(t, name);
    return 0;
}

int dh_engine_pthread_getname_np(pthread_t handle, char *out, size_t size)
{
    const struct dh_task *t = dh_task_find_by_handle(handle);
    if (size < NAME)
        return ERANGE;
    if (!t)
        return ESRCH;
    copy_name(t, out);
    return 0;
}

/* The kernel's thread has the name of the task that asks for it, so that the kernel can answer. */
int dh_engine_prctl_name(int option, char *name)
{
    char now[NAME];
    const long a[6] = {option, (long)name};
    copy_name(dh_engine_self(), now);
    dh_kernel_call(SYS_prctl, PR_SET_NAME, (long)now, 0, 0, 0, 0);
    long result = dh_syscalls_pass_through(SYS_prctl, a);
    if (option == PR_SET_NAME && result == 0) {
        dh_kernel_call(SYS_prctl, PR_GET_NAME, (long)now, 0, 0, 0, 0);
        set_name(dh_engine_self(), now);
    }
    if (result < 0)
        errno = (int)-result;
    return result < 0 ? -1 : 0;
}

void dh_thread_attributes_begin(struct dh_task *main)
{
    dh_kernel_call(SYS_prctl, PR_GET_NAME, (long)main->name, 0, 0, 0, 0);
}

/* ---- attributes ---- */

/* Of the kernel's threads libc knows them, of the main one from files that are no matter of a schedule. */
static int ask_libc(pthread_t handle, pthread_attr_t *out)
{
    bool before = dh_syscalls_allow(true);
    int result = dh_real.pthread_getattr_np(handle, out);
    dh_syscalls_allow(before);
    return result;
}

int dh_engine_pthread_getattr_np(pthread_t handle, pthread_attr_t *out)
{
    const struct dh_task *t = dh_task_find_by_handle(handle);
    if (!t)
        return ESRCH;
    if (!t->index || dh_engine->carrier->is_kernel)
        return ask_libc(handle, out);
    int result = pthread_attr_init(out);
    if (result == 0)
        result = pthread_attr_setstack(out, t->stack, t->stack_size);
    if (result == 0)
        result = pthread_attr_setdetachstate(out, t->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    return result;
}
