/* pthread_cancel and pthread_exit. libc does not see a cancellation: the task acts on it by pthread_exit.
 */
#include "runtime/engine/primitives/primitives.h"

#include "runtime/engine/tasks/coroutine.h"
#include "runtime/engine/tasks/task.h"
#include "runtime/interpose/real.h"

#include <errno.h>

bool dh_task_is_cancelled(const struct dh_task *t)
{
    return t->cancel_pending && !t->cancel_off;
}

static void exit_cancelled(struct dh_task *t)
{
    t->cancel_off = true;
    dh_engine_pthread_exit(PTHREAD_CANCELED);
}

void dh_task_cancel_point(void)
{
    struct dh_task *t = dh_engine_self();
    if (dh_task_is_cancelled(t))
        exit_cancelled(t);
}

int dh_engine_pthread_cancel(pthread_t handle)
{
    struct dh_task *t = dh_task_find_by_handle(handle);
    if (!t)
        return ESRCH;
    dh_engine_park_at(DH_STEP_CANCEL, 0, (void *)(uintptr_t)t->index, NULL, NULL);
    t->cancel_pending = true;
    if (t == dh_engine_self() && t->cancel_async)
        dh_task_cancel_point();
    return 0;
}

void dh_engine_pthread_testcancel(void)
{
    dh_task_cancel_point();
}

int dh_engine_pthread_setcancelstate(int state, int *before)
{
    struct dh_task *t = dh_engine_self();
    if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
        return EINVAL;
    if (before)
        *before = t->cancel_off ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    t->cancel_off = state == PTHREAD_CANCEL_DISABLE;
    if (t->cancel_async)
        dh_task_cancel_point();
    return 0;
}

int dh_engine_pthread_setcanceltype(int type, int *before)
{
    struct dh_task *t = dh_engine_self();
    if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS)
        return EINVAL;
    if (before)
        *before = t->cancel_async ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
    t->cancel_async = type == PTHREAD_CANCEL_ASYNCHRONOUS;
    if (t->cancel_async)
        dh_task_cancel_point();
    return 0;
}

/* ---- pthread_exit ---- */

/* glibc mangles a saved program counter with the pointer guard in the thread's header. */
static uint64_t mangled(void (*function)(void))
{
    uint64_t value = (uint64_t)function, guard;
    __asm__("mov %%fs:0x30, %0" : "=r"(guard));
    value ^= guard;
    return value << 17 | value >> 47;
}

__attribute__((force_align_arg_pointer, used)) static void main_left(void)
{
    dh_task_finish(dh_engine_self());
}

/* Main unwinds to libc's frame, whose code would end the process, as libc knows no other thread. */
static void redirect_main(void)
{
    enum { SAVED_PC = 7 };
    __pthread_unwind_buf_t here;
    __pthread_register_cancel(&here);
    __pthread_unwind_buf_t *above = here.__pad[0];
    __pthread_unregister_cancel(&here);
    if (above)
        ((uint64_t *)above->__cancel_jmp_buf[0].__cancel_jmp_buf)[SAVED_PC] = mangled(main_left);
}

void dh_engine_pthread_exit(void *value)
{
    struct dh_task *t = dh_engine_self();
    t->result = value;
    t->cancel_off = true;
    if (t->index == 0 && !dh_engine->carrier->is_kernel)
        redirect_main();
    dh_real.pthread_exit(value);
    __builtin_unreachable();
}
