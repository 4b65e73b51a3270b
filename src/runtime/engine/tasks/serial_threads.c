/* Every thread waits at a futex word of its own, and so does the engine, which is a kernel thread that libc does not
 * know. A thread that parks decides whose turn it is and wakes that one; the engine is woken for the rest. */
#include "runtime/engine/tasks/serial_threads.h"

#include "runtime/core/frames.h"
#include "runtime/core/thread_state.h"
#include "runtime/engine/checks/watchdog.h"
#include "runtime/engine/processes/fresh_processes.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/tasks/task.h"
#include "runtime/interpose/memory/alloc.h"
#include "runtime/interpose/real.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <time.h>

enum { ENGINE_STACK = 1 << 20 };
#define SECOND 1000000000ull
#define SOON_NS 2000000ull

static void let_run(uint32_t *word)
{
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    dh_kernel_call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void await(uint32_t *word)
{
    while (!__atomic_exchange_n(word, 0, __ATOMIC_ACQUIRE))
        dh_kernel_call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}

static bool await_for(uint32_t *word, uint64_t limit_ns)
{
    struct timespec left = {(time_t)(limit_ns / 1000000000), (long)(limit_ns % 1000000000)};
    while (!__atomic_exchange_n(word, 0, __ATOMIC_ACQUIRE))
        if (dh_kernel_call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, 0, (long)&left, 0, 0) == -ETIMEDOUT)
            return __atomic_exchange_n(word, 0, __ATOMIC_ACQUIRE);
    return true;
}

/* Until the task, or one that it handed its turn on to, has something for the engine to do; false: it hangs. */
static bool await_tasks(void)
{
    enum { LOOKS = 8 };
    struct dh_patience p = {.depth = UINT32_MAX};
    while (!await_for(&dh_engine->may_run, dh_watchdog_limit_ns() / LOOKS))
        if (!dh_watchdog_is_patient(&p))
            return false;
    return true;
}

static void resume(struct dh_task *t)
{
    dh_engine->current = t;
    let_run(&t->may_run);
    if (!await_tasks())
        dh_engine->end = DH_ENGINE_HANG;
    dh_engine->current = NULL;
}

/* Without the turn: others go on meanwhile. */
static void perform_call(struct dh_kernel_wait *c)
{
    const long *a = c->arguments;
    c->result = dh_kernel_call(c->number, a[0], a[1], a[2], a[3], a[4], a[5]);
    let_run(&c->returned);
}

static void park(struct dh_task *t)
{
    struct dh_task *next = t->call.arguments ? NULL : dh_engine_next_task(t);
    if (next == t)
        return;
    let_run(next ? &next->may_run : &dh_engine->may_run);
    if (t->call.arguments)
        perform_call(&t->call);
    await(&t->may_run);
}

/* ---- calls that the kernel performs for real ---- */

static bool has_returned(const struct dh_kernel_wait *c)
{
    return __atomic_load_n(&c->returned, __ATOMIC_ACQUIRE);
}

static bool await_return(const struct dh_kernel_wait *c, uint64_t limit_ns)
{
    struct timespec left = {(time_t)(limit_ns / SECOND), (long)(limit_ns % SECOND)};
    while (!has_returned(c))
        if (dh_kernel_call(SYS_futex, (long)&c->returned, FUTEX_WAIT_PRIVATE, 0, (long)&left, 0, 0) == -ETIMEDOUT)
            return has_returned(c);
    return true;
}

/* What returns soon counts as returned at once, so that the schedule does not depend on the machine's load; a replay
 * waits for what the witness had. */
static uint32_t when_returned(const struct dh_task *t)
{
    struct dh_kernel_wait *c = &((struct dh_task *)t)->call;
    bool replays = dh_engine->control->job.mode == DH_ENGINE_REPLAY;
    if (!c->waited && !has_returned(c))
        await_return(c, replays ? dh_watchdog_limit_ns() : SOON_NS);
    c->waited = true;
    return has_returned(c);
}

/* What comes back may be the consequence of what any thread gave away before. */
long dh_serial_threads_call(long number, const long a[6])
{
    static const char outside;
    struct dh_task *t = dh_engine->current;
    t->call = (struct dh_kernel_wait){.number = number, .arguments = a};
    dh_io_release(&outside);
    dh_engine_park_at(DH_STEP_IO, 0, NULL, NULL, when_returned);
    dh_io_acquire(&outside);
    t->call.arguments = NULL;
    return t->call.result;
}

bool dh_serial_threads_await_kernel(void)
{
    uint64_t limit = dh_watchdog_limit_ns();
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if (!dh_engine->actors[i].ended && dh_engine->tasks[i].call.arguments &&
            await_return(&dh_engine->tasks[i].call, limit))
            return true;
    return dh_fresh_processes_on() && dh_outside_await(limit);
}

/* A thread that ended goes on to libc's own end of it; all others stop for ever. */
static void leave(void)
{
    bool ended = dh_engine->current->ended;
    uint32_t never = 0;
    if (ended)
        dh_syscalls_allow(true);
    let_run(&dh_engine->may_run);
    while (!ended)
        await(&never);
}

static void *run(void *argument)
{
    struct dh_task *t = argument;
    await(&t->may_run);
    t->tid = (uint32_t)dh_sys_gettid();
    t->stack = (char *)__builtin_frame_address(0) - t->stack_size;
    dh_frames_init(&__dh_thread);
    dh_syscalls_begin();
    dh_task_run(t);
    return t->result;
}

static bool create(struct dh_task *t)
{
    pthread_t handle;
    bool before = dh_syscalls_allow(true);
    dh_alloc_inner_begin();
    int result = dh_real.pthread_create(&handle, t->attributes, run, t);
    dh_alloc_inner_end();
    dh_syscalls_allow(before);
    if (result == 0)
        t->fs = (uintptr_t)handle;
    return result == 0;
}

static void join(struct dh_task *t)
{
    bool before = dh_syscalls_allow(true);
    if (t->index)
        dh_real.pthread_join(t->fs, NULL);
    dh_syscalls_allow(before);
}

static void detach(struct dh_task *t)
{
    dh_real.pthread_detach(t->fs);
}

const struct dh_engine_carrier_ops dh_serial_threads = {
    .is_kernel = true,
    .resume = resume,
    .park = park,
    .leave = leave,
    .create = create,
    .join = join,
    .detach = detach,
};

/* With the thread pointer of main, which it never uses. */
static long clone_engine(char *top)
{
    long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, result;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "call dh_engine_loop\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(result)
                     : "0"(SYS_clone), "D"(flags), "S"(top), "d"(0)
                     : "rcx", "r11", "r10", "r8", "memory");
    return result;
}

void dh_serial_threads_begin(struct dh_task *main)
{
    char *stack = dh_keep_alloc(ENGINE_STACK);
    dh_syscalls_allow(true);
    if (!stack || clone_engine(stack + ENGINE_STACK - 64) < 0)
        dh_engine_cannot("no thread for the engine");
    await(&main->may_run);
    dh_syscalls_begin();
}
