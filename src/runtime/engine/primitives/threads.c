/* Threads of the program as tasks: creation, stacks, end, join, detach. */
#include "runtime/engine/primitives/primitives.h"

#include "runtime/core/frames.h"
#include "runtime/core/threads.h"
#include "runtime/engine/checks/quarantine.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/engine/tasks/coroutine.h"
#include "runtime/engine/tasks/task.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <sys/mman.h>

enum { FAKE_TID = 1 << 28, STACK_DEFAULT = 8 << 20, STACK_MOST = 256 << 20 };

/* ---- stacks ---- */

/* By the index of the task; below each is a guard page. */
static struct {
    char *at[DH_ENGINE_TASKS];
    size_t size[DH_ENGINE_TASKS];
} *stacks;

bool dh_tasks_init(void)
{
    stacks = dh_keep_alloc(sizeof *stacks);
    return stacks;
}

bool dh_task_allocate_stack(struct dh_task *t)
{
    if (t->user_stack)
        return true;
    size_t size = (t->stack_size + DH_ENGINE_PAGE - 1) & ~(size_t)(DH_ENGINE_PAGE - 1);
    /* Mappings of an earlier child process are not there in this one. */
    if (stacks->size[t->index] < size || dh_engine->flags & DH_ENGINE_FORK) {
        long at = dh_kernel_call(SYS_mmap, 0, (long)size + DH_ENGINE_PAGE, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if ((unsigned long)at > -4096ul)
            return false;
        dh_kernel_call(SYS_mprotect, at, DH_ENGINE_PAGE, PROT_NONE, 0, 0, 0);
        stacks->at[t->index] = (char *)at + DH_ENGINE_PAGE;
        stacks->size[t->index] = size;
    }
    t->stack = stacks->at[t->index];
    t->stack_size = stacks->size[t->index];
    return true;
}

/* ---- life of a task ---- */

/* As for a new kernel thread, but without its system calls. */
static void init_thread_state(struct dh_task *t)
{
    dh_quarantine_task_begins(t);
    struct dh_thread *record = dh_thread_new(0, t->detached);
    __dh_thread.stack_low = (uintptr_t)t->stack;
    __dh_thread.stack_high = (uintptr_t)t->stack + t->stack_size;
    __dh_thread.place = 0;
    if (record) {
        record->handle = t->fs;
        if (t->name[0])
            dh_thread_set_name(record, t->name);
        __dh_thread.index = record->index;
    }
    __dh_thread.thread = record;
}

/* Its name is one that reports leave out of stacks. */
__attribute__((noinline)) static void __dh_run_routine(struct dh_task *t)
{
    if (__sigsetjmp_cancel(t->unwind.__cancel_jmp_buf, 0))
        return;
    __pthread_register_cancel(&t->unwind);
    dh_signals_enter_wait(); /* a signal may come before its first step of its own */
    t->result = t->is_c11 ? (void *)(intptr_t)t->routine.c11(t->argument) : t->routine.posix(t->argument);
}

void dh_task_finish(struct dh_task *t)
{
    t->cancel_off = true;
    dh_tls_end(t);
    __dh_thread.place = 0;
    dh_quarantine_task_ends(t);
    dh_engine_park_at(DH_STEP_END, 0, (void *)(uintptr_t)t->index, NULL, NULL);
    dh_engine_mutex_owner_died(t);
    dh_quarantine_task_ended(t);
    t->ended = true;
    dh_engine->actors[t->index].ended = 1;
    dh_engine->work = dh_engine_work(dh_engine);
    dh_engine->carrier->leave();
}

void dh_task_run(struct dh_task *t)
{
    init_thread_state(t);
    __dh_run_routine(t);
    dh_task_finish(t);
}

/* ---- creation ---- */

static void read_attributes(struct dh_task *t, const pthread_attr_t *attr)
{
    int state = PTHREAD_CREATE_JOINABLE;
    void *low = NULL;
    size_t size = 0;
    t->stack_size = STACK_DEFAULT;
    if (!attr)
        return;
    pthread_attr_getdetachstate(attr, &state);
    t->detached = state == PTHREAD_CREATE_DETACHED;
    if (pthread_attr_getstack(attr, &low, &size) == 0 && low && (uintptr_t)low + size) {
        t->user_stack = true;
        t->stack = low;
        t->stack_size = size;
    } else if (pthread_attr_getstacksize(attr, &size) == 0 && size > 0 && size <= STACK_MOST) {
        t->stack_size = size < STACK_DEFAULT ? STACK_DEFAULT : size;
    }
}

static void park_at_creation(void)
{
    struct dh_step s = {.kind = DH_STEP_CREATE, .site = dh_engine_call_place(), .object = dh_engine->n_tasks};
    if (dh_engine_on) {
        dh_engine_park(&s);
        dh_engine->executed.object = dh_engine->n_tasks;
    } else {
        s.object = 1;
        dh_engine_begin(&s);
    }
}

static struct dh_task *new_task(const pthread_attr_t *attr, void *argument)
{
    struct dh_engine *e = dh_engine;
    if (e->n_tasks == DH_ENGINE_TASKS)
        return NULL;
    if (e->drains_from && e->n_tasks == e->drains_from)
        dh_engine_cannot("more than the %u threads that the memory model was told of", e->drains_from);
    struct dh_task *t = &e->tasks[e->n_tasks];
    dh_bytes_zero(t, sizeof *t);
    t->index = e->n_tasks;
    t->tid = FAKE_TID | t->index;
    t->argument = argument;
    t->attributes = attr;
    t->mask = e->current->mask;
    t->signal_alternative = DH_NO_SIGNAL;
    read_attributes(t, attr);
    return t;
}

static int start(struct dh_task *t)
{
    struct dh_engine *e = dh_engine;
    if (!e->carrier->create(t))
        return EAGAIN;
    e->actors[t->index] = (struct dh_actor){
        .step = {.kind = DH_STEP_BEGIN, .object = t->index, .occurrence = dh_occurrence_counts_next(t->index, 0)}};
    e->alternatives[t->index] = NULL;
    e->n_tasks++;
    return 0;
}

int dh_engine_pthread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*routine)(void *), void *argument)
{
    park_at_creation();
    struct dh_task *t = new_task(attr, argument);
    if (!t)
        return EAGAIN;
    t->routine.posix = routine;
    int result = start(t);
    if (result == 0)
        *handle = t->fs;
    return result;
}

int dh_engine_thrd_create(thrd_t *handle, thrd_start_t routine, void *argument)
{
    park_at_creation();
    struct dh_task *t = new_task(NULL, argument);
    if (!t)
        return thrd_nomem;
    t->routine.c11 = routine;
    t->is_c11 = true;
    if (start(t) != 0)
        return thrd_nomem;
    *handle = t->fs;
    return thrd_success;
}

/* ---- join ---- */

struct dh_task *dh_task_find_by_handle(uintptr_t handle)
{
    for (uint32_t i = dh_engine->n_tasks; i-- > 0;)
        if (dh_engine->tasks[i].fs == handle)
            return &dh_engine->tasks[i];
    return NULL;
}

static uint32_t when_ended(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    if (s->flags & DH_STEP_TRY || dh_engine->tasks[s->object].ended || dh_task_is_cancelled(t))
        return 1;
    return s->flags & DH_STEP_TIMED ? 2 : 0;
}

/* ETIMEDOUT, EBUSY: it has not ended. */
static int join(uintptr_t handle, void **value, unsigned flags)
{
    struct dh_task *t = dh_task_find_by_handle(handle);
    if (!t)
        return ESRCH;
    if (t->detached || t->joined)
        return EINVAL;
    if (t == dh_engine_self())
        return EDEADLK;
    dh_task_cancel_point();
    uint32_t alternative = dh_engine_park_at(DH_STEP_JOIN, flags, (void *)(uintptr_t)t->index, NULL, when_ended);
    if (!t->ended && !(flags & DH_STEP_TRY))
        dh_task_cancel_point();
    if (alternative == 1)
        dh_virtual_time_advance(dh_engine_self()->deadline);
    if (!t->ended) {
        dh_engine_step_failed();
        return alternative == 1 ? ETIMEDOUT : EBUSY;
    }
    t->joined = true;
    if (dh_engine->carrier->join)
        dh_engine->carrier->join(t);
    if (value)
        *value = t->result;
    return 0;
}

int dh_engine_pthread_join(pthread_t handle, void **value)
{
    return join(handle, value, 0);
}

int dh_engine_pthread_tryjoin_np(pthread_t handle, void **value)
{
    return join(handle, value, DH_STEP_TRY);
}

int dh_engine_pthread_clockjoin_np(pthread_t handle, void **value, clockid_t clock, const struct timespec *until)
{
    if (until && !dh_timespec_is_valid(until))
        return EINVAL;
    if (until)
        dh_engine_self()->deadline = dh_virtual_time_of(clock, until);
    return join(handle, value, until ? DH_STEP_TIMED : 0);
}

int dh_engine_pthread_timedjoin_np(pthread_t handle, void **value, const struct timespec *until)
{
    return dh_engine_pthread_clockjoin_np(handle, value, CLOCK_REALTIME, until);
}

int dh_engine_thrd_join(thrd_t handle, int *value)
{
    void *result = NULL;
    if (join(handle, &result, 0) != 0)
        return thrd_error;
    if (value)
        *value = (int)(intptr_t)result;
    return thrd_success;
}

int dh_engine_pthread_detach(pthread_t handle)
{
    struct dh_task *t = dh_task_find_by_handle(handle);
    if (!t)
        return ESRCH;
    if (t->detached || t->joined)
        return EINVAL;
    t->detached = true;
    if (dh_engine->carrier->detach)
        dh_engine->carrier->detach(t);
    return 0;
}

int dh_engine_thrd_detach(thrd_t handle)
{
    return dh_engine_pthread_detach(handle) == 0 ? thrd_success : thrd_error;
}
