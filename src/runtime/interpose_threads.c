/* Stands before libc's thread functions, for the program, its libraries and libstdc++ alike. C11 threads are
 * interposed too: libc calls its own pthread functions inside them directly. */
#include "runtime/alloc.h"
#include "runtime/context.h"
#include "runtime/frames.h"
#include "runtime/interpose.h"
#include "runtime/modules.h"
#include "runtime/real.h"
#include "runtime/start.h"
#include "runtime/threads.h"
#include "runtime/unwind.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>

/* Where the return address of an interposed function is stored. */
#define CALL_SLOT ((uintptr_t *)__builtin_frame_address(0) + 1)
#define NATIVE_FRAMES 32
/* Frames of libc's that call ours, and thread-local destructors, lie just above. */
#define STACK_HIGH ((uintptr_t)__builtin_frame_address(0) + 1024)

struct beginning {
    union {
        void *(*posix)(void *);
        thrd_start_t c11;
    } routine;
    void *argument;
    struct dh_thread *thread;
    size_t stack_size;
};

static struct beginning begin(void *memory)
{
    struct beginning b = *(struct beginning *)memory;
    dh_free(memory, sizeof b);
    return b;
}

static void *run_posix(void *memory)
{
    struct beginning b = begin(memory);
    dh_thread_begin(b.thread, STACK_HIGH, b.stack_size);
    return b.routine.posix(b.argument);
}

static int run_c11(void *memory)
{
    struct beginning b = begin(memory);
    dh_thread_begin(b.thread, STACK_HIGH, b.stack_size);
    return b.routine.c11(b.argument);
}

static size_t default_stack_size(void)
{
    pthread_attr_t attr;
    size_t size = 0;
    if (pthread_attr_init(&attr) == 0) {
        pthread_attr_getstacksize(&attr, &size);
        pthread_attr_destroy(&attr);
    }
    return size;
}

static void describe(const pthread_attr_t *attr, size_t *stack_size, bool *detached)
{
    int state = PTHREAD_CREATE_JOINABLE;
    if (!attr || pthread_attr_getstacksize(attr, stack_size) != 0)
        *stack_size = default_stack_size();
    if (attr)
        pthread_attr_getdetachstate(attr, &state);
    *detached = state == PTHREAD_CREATE_DETACHED;
}

/* The calling context, with the frames of libraries that are not instrumented (std::thread's) in between. */
static uint32_t context_of_call(const uintptr_t *call_slot)
{
    uintptr_t native[NATIVE_FRAMES];
    uint32_t known = dh_frames_known(&__dh_thread), id = dh_context_intern(&__dh_thread);
    uintptr_t end = known ? __dh_thread.frames[known - 1].frame : 0;
    size_t n = dh_unwind((uintptr_t)call_slot, end, native, NATIVE_FRAMES);
    if (!n)
        native[n++] = *call_slot;
    while (n-- > 0)
        id = dh_context_extend(id, native[n]);
    return id;
}

/* NULL when there is no memory: the thread then runs unannounced. */
static struct beginning *prepare(void *argument, const pthread_attr_t *attr, const uintptr_t *call_slot)
{
    struct beginning *b = dh_alloc(sizeof *b);
    if (!b)
        return NULL;
    bool detached;
    describe(attr, &b->stack_size, &detached);
    uint32_t context = context_of_call(call_slot);
    dh_modules_note(context);
    b->argument = argument;
    b->thread = dh_thread_new(context, detached);
    return b;
}

static void conclude(struct beginning *b, struct dh_thread *thread, bool created, uintptr_t handle)
{
    if (created) {
        __dh_thread.last_created = thread;
        __dh_thread.last_handle = handle;
    } else {
        dh_thread_abandon(thread);
        dh_free(b, sizeof *b);
    }
}

static int dh_interposed_pthread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*routine)(void *),
                                        void *argument)
{
    dh_start_early();
    struct beginning *b = prepare(argument, attr, CALL_SLOT);
    if (!b)
        return dh_real.pthread_create(handle, attr, routine, argument);
    b->routine.posix = routine;
    struct dh_thread *thread = b->thread; /* `b` is the new thread's own once that exists */
    int result = dh_real.pthread_create(handle, attr, run_posix, b);
    conclude(b, thread, result == 0, result == 0 ? *handle : 0);
    return result;
}
DH_INTERPOSE(pthread_create);

static int dh_interposed_thrd_create(thrd_t *handle, thrd_start_t routine, void *argument)
{
    dh_start_early();
    struct beginning *b = prepare(argument, NULL, CALL_SLOT);
    if (!b)
        return dh_real.thrd_create(handle, routine, argument);
    b->routine.c11 = routine;
    struct dh_thread *thread = b->thread;
    int result = dh_real.thrd_create(handle, run_c11, b);
    conclude(b, thread, result == thrd_success, result == thrd_success ? *handle : 0);
    return result;
}
DH_INTERPOSE(thrd_create);

/* The record is looked up first: after a join the thread's memory is gone. */
#define INTERPOSE_END(name, success, flag, parameters, arguments)                                                      \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_start_early();                                                                                              \
        struct dh_thread *thread = dh_thread_of_handle(handle);                                                        \
        int result = dh_real.name arguments;                                                                           \
        if (result == success)                                                                                         \
            dh_thread_mark(thread ? thread : dh_threads_find_handle(handle), flag);                                    \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

INTERPOSE_END(pthread_join, 0, DH_THREAD_JOINED, (pthread_t handle, void **value), (handle, value))
INTERPOSE_END(pthread_tryjoin_np, 0, DH_THREAD_JOINED, (pthread_t handle, void **value), (handle, value))
INTERPOSE_END(pthread_timedjoin_np, 0, DH_THREAD_JOINED, (pthread_t handle, void **value, const struct timespec *until),
              (handle, value, until))
INTERPOSE_END(pthread_clockjoin_np, 0, DH_THREAD_JOINED,
              (pthread_t handle, void **value, clockid_t clock, const struct timespec *until),
              (handle, value, clock, until))
INTERPOSE_END(pthread_detach, 0, DH_THREAD_DETACHED, (pthread_t handle), (handle))
INTERPOSE_END(thrd_join, thrd_success, DH_THREAD_JOINED, (thrd_t handle, int *value), (handle, value))
INTERPOSE_END(thrd_detach, thrd_success, DH_THREAD_DETACHED, (thrd_t handle), (handle))

static int dh_interposed_pthread_setname_np(pthread_t handle, const char *name)
{
    dh_start_early();
    int result = dh_real.pthread_setname_np(handle, name);
    if (result == 0)
        dh_thread_set_name(dh_thread_of_handle(handle), name);
    return result;
}
DH_INTERPOSE(pthread_setname_np);

static int dh_interposed_prctl(int option, ...)
{
    unsigned long a[4];
    va_list ap;
    va_start(ap, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(ap, unsigned long);
    va_end(ap);
    dh_start_early();
    int result = dh_real.prctl(option, a[0], a[1], a[2], a[3]);
    if (option == PR_SET_NAME && result == 0)
        dh_thread_set_name(__dh_thread.thread, (const char *)a[0]);
    return result;
}
DH_INTERPOSE(prctl);
