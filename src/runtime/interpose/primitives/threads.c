/* Stands before libc's thread functions, for the program, its libraries and libstdc++ alike. C11 threads are
 * interposed too: libc calls its own pthread functions inside them directly. */
#include "runtime/core/threads.h"
#include "runtime/core/context.h"
#include "runtime/core/frames.h"
#include "runtime/core/modules.h"
#include "runtime/core/thread_count.h"
#include "runtime/core/unwind.h"
#include "runtime/core/variant.h"
#include "runtime/interpose/interpose.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"

#include <errno.h>

#define NATIVE_FRAMES 32
/* Frames of libc's that call ours, and thread-local destructors, lie just above. */
#define STACK_HIGH ((uintptr_t)__builtin_frame_address(0) + 1024)
#define PAGE 4096
/* struct pthread of glibc. */
#define THREAD_RECORD 0x900

struct beginning {
    union {
        void *(*posix)(void *);
        thrd_start_t c11;
    } routine;
    void *argument;
    struct dh_thread *thread;
    struct dh_thread_birth birth; /* of what the creator did before */
    size_t stack_size;
    uintptr_t stack_top; /* of a stack that the program gave, or 0 */
};

/* Of a stack that libc makes, the thread's own record is the highest part, above thread-local storage. */
static uintptr_t top_of_stack(const struct beginning *b)
{
    uintptr_t end = (uintptr_t)pthread_self() + THREAD_RECORD;
    return b->stack_top ? b->stack_top : (end + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
}

/* Thread-local storage may have been that of another thread, of which we know no end; as the stack below, which
 * dh_thread_start cares for. */
static struct beginning begin_thread(void *memory, uintptr_t stack_high)
{
    struct beginning b = *(struct beginning *)memory;
    dh_free(memory, sizeof b);
    uintptr_t top = top_of_stack(&b), here = (uintptr_t)__builtin_frame_address(0);
    dh_thread_begin(b.thread, stack_high, b.stack_size - (top - stack_high));
    dh_thread_start(&b.birth);
    dh_memory_mapped((void *)here, top - here, DH_MEMORY_TLS);
    return b;
}

static void *run_posix(void *memory)
{
    struct beginning b = begin_thread(memory, STACK_HIGH);
    return b.routine.posix(b.argument);
}

static int run_c11(void *memory)
{
    struct beginning b = begin_thread(memory, STACK_HIGH);
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

static void describe(const pthread_attr_t *attr, struct beginning *b, bool *detached)
{
    int state = PTHREAD_CREATE_JOINABLE;
    void *low = NULL;
    size_t given = 0;
    b->stack_top = 0;
    if (!attr || pthread_attr_getstacksize(attr, &b->stack_size) != 0)
        b->stack_size = default_stack_size();
    /* The top of a stack that libc is to make comes to 0. */
    if (attr && pthread_attr_getstack(attr, &low, &given) == 0)
        b->stack_top = (uintptr_t)low + given;
    if (attr)
        pthread_attr_getdetachstate(attr, &state);
    *detached = state == PTHREAD_CREATE_DETACHED;
}

/* The calling context, with the frames of libraries that are not instrumented (std::thread's) in between. */
static uint32_t context_of_call(const uintptr_t *call_slot)
{
    uintptr_t native[NATIVE_FRAMES];
    uint32_t known = dh_frames_known(&__dh_thread), id = dh_context_intern(&__dh_thread);
    uintptr_t end = known ? __dh_thread.frames[known - 1].frame & ~(uintptr_t)1 : 0;
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
    describe(attr, b, &detached);
    uint32_t context = context_of_call(call_slot);
    dh_modules_note(context);
    b->argument = argument;
    b->thread = dh_thread_new(context, detached);
    if (b->stack_top)
        dh_thread_mark(b->thread, DH_THREAD_OWN_STACK);
    b->birth = (struct dh_thread_birth){0};
    dh_thread_spawn(&b->birth, b->thread);
    return b;
}

static void conclude(struct beginning *b, struct dh_thread *thread, bool created, uintptr_t handle)
{
    if (created) {
        dh_thread_count_add();
        __dh_thread.last_created = thread;
        __dh_thread.last_handle = handle;
    } else {
        dh_thread_abandon(thread);
        dh_thread_spawn_failed(&b->birth);
        dh_free(b, sizeof *b);
    }
}

static int dh_interposed_pthread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*routine)(void *),
                                        void *argument)
{
    dh_start_early();
    dh_variant_note_threads();
    if (dh_engine_takes_threads())
        return dh_engine_pthread_create(handle, attr, routine, argument);
    struct beginning *b = prepare(argument, attr, DH_CALL_SLOT);
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
    dh_variant_note_threads();
    if (dh_engine_takes_threads())
        return dh_engine_thrd_create(handle, routine, argument);
    struct beginning *b = prepare(argument, NULL, DH_CALL_SLOT);
    if (!b)
        return dh_real.thrd_create(handle, routine, argument);
    b->routine.c11 = routine;
    struct dh_thread *thread = b->thread;
    int result = dh_real.thrd_create(handle, run_c11, b);
    conclude(b, thread, result == thrd_success, result == thrd_success ? *handle : 0);
    return result;
}
DH_INTERPOSE(thrd_create);

static void joined(struct dh_thread *thread, const uintptr_t *call_slot)
{
    if (!thread)
        return;
    dh_thread_mark(thread, DH_THREAD_JOINED);
    dh_thread_joined(thread, call_slot);
}

static void detached(struct dh_thread *thread, const uintptr_t *call_slot)
{
    (void)call_slot;
    dh_thread_mark(thread, DH_THREAD_DETACHED);
    if (thread)
        dh_thread_detached(thread);
}

/* The record is looked up first: after a join the thread's memory is gone. */
#define INTERPOSE_END(name, success, done, parameters, arguments, call)                                                \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        DH_BY_ENGINE(name, arguments);                                                                                 \
        struct dh_thread *thread = dh_thread_of_handle(handle);                                                        \
        int result = call;                                                                                             \
        if (result == success)                                                                                         \
            done(thread ? thread : dh_threads_find_handle(handle), DH_CALL_SLOT);                                      \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

#define JOINS(call) DH_WAIT_FOR(thread, DH_SYNC_THREAD, 0, handle, DH_CALL_SLOT, call)

INTERPOSE_END(pthread_join, 0, joined, (pthread_t handle, void **value), (handle, value),
              JOINS(dh_real.pthread_join(handle, value)))
INTERPOSE_END(pthread_tryjoin_np, 0, joined, (pthread_t handle, void **value), (handle, value),
              dh_real.pthread_tryjoin_np(handle, value))
INTERPOSE_END(pthread_timedjoin_np, 0, joined, (pthread_t handle, void **value, const struct timespec *until),
              (handle, value, until), DH_WAIT(dh_real.pthread_timedjoin_np(handle, value, until)))
INTERPOSE_END(pthread_clockjoin_np, 0, joined,
              (pthread_t handle, void **value, clockid_t clock, const struct timespec *until),
              (handle, value, clock, until), DH_WAIT(dh_real.pthread_clockjoin_np(handle, value, clock, until)))
INTERPOSE_END(pthread_detach, 0, detached, (pthread_t handle), (handle), dh_real.pthread_detach(handle))
INTERPOSE_END(thrd_join, thrd_success, joined, (thrd_t handle, int *value), (handle, value),
              JOINS(dh_real.thrd_join(handle, value)))
INTERPOSE_END(thrd_detach, thrd_success, detached, (thrd_t handle), (handle), dh_real.thrd_detach(handle))

/* The other side is where the cancellation takes effect: see wait.c. */
static int dh_interposed_pthread_cancel(pthread_t handle)
{
    dh_interpose_ready();
    DH_BY_ENGINE(pthread_cancel, (handle));
    dh_sync_release_join(dh_thread_of_handle(handle), DH_SYNC_THREAD);
    return dh_real.pthread_cancel(handle);
}
DH_INTERPOSE(pthread_cancel);

static int dh_interposed_pthread_setname_np(pthread_t handle, const char *name)
{
    dh_interpose_ready();
    DH_BY_ENGINE(pthread_setname_np, (handle, name));
    int result = dh_real.pthread_setname_np(handle, name);
    if (result == 0)
        dh_thread_set_name(dh_thread_of_handle(handle), name);
    return result;
}
DH_INTERPOSE(pthread_setname_np);

static int dh_interposed_pthread_getname_np(pthread_t handle, char *name, size_t size)
{
    dh_interpose_ready();
    DH_BY_ENGINE(pthread_getname_np, (handle, name, size));
    return dh_real.pthread_getname_np(handle, name, size);
}
DH_INTERPOSE(pthread_getname_np);

static int dh_interposed_pthread_getattr_np(pthread_t handle, pthread_attr_t *attributes)
{
    dh_interpose_ready();
    DH_BY_ENGINE(pthread_getattr_np, (handle, attributes));
    return dh_real.pthread_getattr_np(handle, attributes);
}
DH_INTERPOSE(pthread_getattr_np);
