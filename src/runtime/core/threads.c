#include "runtime/core/threads.h"

#include "runtime/core/frames.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/interpose/primitives/locks.h"
#include "runtime/interpose/real.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/report/report.h"
#include "runtime/sync/sync.h"

#include <limits.h>
#include <pthread.h>
#include <sys/prctl.h>

#define SEGMENT_BITS 10
#define SEGMENT_RECORDS (1u << SEGMENT_BITS)
#define SEGMENTS (DH_THREADS_KEPT >> SEGMENT_BITS)
#define FOREIGN_STACK ((size_t)64 << 10)

static _Atomic(struct dh_thread *) segments[SEGMENTS];
static _Atomic uint32_t next_index;
static pthread_key_t end_key;
static bool end_key_made;

static struct dh_thread *kept_record(uint32_t index, bool make)
{
    _Atomic(struct dh_thread *) *slot = &segments[index >> SEGMENT_BITS];
    struct dh_thread *s = atomic_load_explicit(slot, memory_order_acquire);
    if (!s && make) {
        struct dh_thread *fresh = dh_alloc_forever(sizeof *fresh * SEGMENT_RECORDS);
        if (!fresh)
            return NULL;
        if (atomic_compare_exchange_strong_explicit(slot, &s, fresh, memory_order_acq_rel, memory_order_acquire))
            s = fresh;
    }
    return s ? &s[index & (SEGMENT_RECORDS - 1)] : NULL;
}

static struct dh_thread *new_record(void)
{
    uint32_t index = atomic_fetch_add_explicit(&next_index, 1, memory_order_relaxed);
    struct dh_thread *t = index < DH_THREADS_KEPT ? kept_record(index, true) : dh_alloc(sizeof *t);
    if (!t)
        return NULL;
    dh_bytes_zero(t, sizeof *t);
    t->index = index;
    t->parent = DH_THREAD_NONE;
    return t;
}

uint32_t dh_threads_count(void)
{
    return atomic_load_explicit(&next_index, memory_order_relaxed);
}

struct dh_thread *dh_threads_find(uint32_t index)
{
    if (index >= DH_THREADS_KEPT || index >= dh_threads_count())
        return NULL;
    struct dh_thread *t = kept_record(index, false);
    bool there = t && atomic_load_explicit(&t->flags, memory_order_acquire) & DH_THREAD_CREATED;
    return there ? t : NULL;
}

struct dh_thread *dh_threads_find_handle(uintptr_t handle)
{
    uint32_t n = dh_threads_count();
    for (uint32_t i = n < DH_THREADS_KEPT ? n : DH_THREADS_KEPT; i-- > 0;) {
        struct dh_thread *t = dh_threads_find(i);
        if (t && t->handle == handle)
            return atomic_load_explicit(&t->flags, memory_order_acquire) & DH_THREAD_JOINED ? NULL : t;
    }
    return NULL;
}

const char *dh_thread_state_name(const struct dh_thread *t)
{
    static const struct {
        unsigned flag;
        const char *name;
    } order[] = {
        {DH_THREAD_ABSENT, "absent"},
        {DH_THREAD_JOINED, "joined"},
        {DH_THREAD_FINISHED, "finished"},
        {DH_THREAD_DETACHED, "detached"},
    };
    unsigned flags = atomic_load_explicit(&t->flags, memory_order_acquire);
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        if (flags & order[i].flag)
            return order[i].name;
    return "running";
}

void dh_thread_mark(struct dh_thread *t, enum dh_thread_flag flag)
{
    if (t)
        atomic_fetch_or_explicit(&t->flags, flag, memory_order_acq_rel);
}

void dh_thread_set_name(struct dh_thread *t, const char *name)
{
    if (!t)
        return;
    dh_thread_mark(t, DH_THREAD_NAMED);
    dh_text_copy(t->name, sizeof t->name, name);
    dh_thread_named(t);
}

struct dh_thread *dh_thread_new(uint32_t context, bool detached)
{
    struct dh_thread *t = new_record();
    if (!t)
        return NULL;
    t->parent = __dh_thread.thread ? __dh_thread.index : DH_THREAD_NONE;
    t->context = context;
    dh_thread_mark(t, detached ? DH_THREAD_CREATED | DH_THREAD_DETACHED : DH_THREAD_CREATED);
    return t;
}

/* The index is used again when none was taken since; else it stays a gap. */
void dh_thread_abandon(struct dh_thread *t)
{
    if (!t)
        return;
    uint32_t index = t->index, next = index + 1;
    atomic_store_explicit(&t->flags, 0, memory_order_release);
    if (index >= DH_THREADS_KEPT)
        dh_free(t, sizeof *t);
    atomic_compare_exchange_strong(&next_index, &next, index);
}

static void set_stack(struct dh_thread_state *s, uintptr_t high, size_t size)
{
    s->stack_high = high;
    s->stack_low = high > size ? high - size : 0;
}

/* The kernel's name is the creator's, or what the thread was named before it ran. */
static void take_kernel_name(struct dh_thread *t)
{
    char name[DH_THREAD_NAME + 1] = {0};
    if (dh_sys_prctl(PR_GET_NAME, (unsigned long)name) != 0)
        return;
    /* Its creator may be naming it right now. */
    if (!(atomic_fetch_or_explicit(&t->flags, DH_THREAD_NAMED, memory_order_acq_rel) & DH_THREAD_NAMED))
        dh_text_copy(t->name, sizeof t->name, name);
}

static void become(struct dh_thread *t)
{
    struct dh_thread_state *s = &__dh_thread;
    if (t) {
        t->handle = (uintptr_t)pthread_self();
        s->index = t->index;
        if (!dh_report_is_sandboxed()) {
            t->tid = dh_sys_gettid();
            take_kernel_name(t);
        }
    }
    /* Last: a thread that finds it here may use it. */
    __atomic_store_n(&s->thread, t, __ATOMIC_RELEASE);
}

void dh_thread_begin(struct dh_thread *t, uintptr_t stack_high, size_t stack_size)
{
    set_stack(&__dh_thread, stack_high, stack_size);
    become(t);
    dh_frames_init(&__dh_thread);
    if (end_key_made)
        pthread_setspecific(end_key, &__dh_thread);
}

void dh_threads_init(uintptr_t stack_high, size_t stack_size)
{
    struct dh_thread *t = new_record();
    set_stack(&__dh_thread, stack_high, stack_size);
    if (t)
        atomic_store_explicit(&t->flags, DH_THREAD_CREATED, memory_order_release);
    become(t);
    dh_frames_init(&__dh_thread);
}

void dh_thread_attach(void)
{
    struct dh_thread_state *s = &__dh_thread;
    if (s->ended || s->thread || s->growing || !dh_process.started)
        return;
    s->growing = 1; /* a signal handler here must not attach a second time */
    struct dh_thread *t = new_record();
    dh_thread_mark(t, DH_THREAD_CREATED | DH_THREAD_FOREIGN);
    set_stack(s, (uintptr_t)__builtin_frame_address(0) + FOREIGN_STACK, FOREIGN_STACK * 2);
    become(t);
    dh_frames_init(s);
    /* Beyond the first block of keys libc would call the program's malloc, which may be what called us. */
    if (end_key_made && end_key < 32)
        pthread_setspecific(end_key, s);
    s->growing = 0;
}

struct dh_thread *dh_thread_of_handle(uintptr_t handle)
{
    /* A pthread_t of glibc is the thread pointer, so that thread's state lies as far from it as ours from ours. */
    uintptr_t distance = (uintptr_t)&__dh_thread - (uintptr_t)pthread_self();
    const struct dh_thread_state *s = (const struct dh_thread_state *)(handle + distance);
    struct dh_thread *t = __atomic_load_n(&s->thread, __ATOMIC_ACQUIRE);
    if (t)
        return t->index == s->index ? t : NULL;
    return __dh_thread.last_handle == handle ? __dh_thread.last_created : NULL;
}

/* Destructors of the program may run in every round and call hooks, so ours comes back until the last one. */
static void at_end(void *state)
{
    struct dh_thread_state *s = state;
    if (++s->rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(end_key, s) == 0)
        return;
    dh_parts_thread_ends();
    s->ended = 1;
    dh_locks_abandoned();
    dh_thread_exit();
    dh_frames_release(s);
    struct dh_thread *t = s->thread;
    dh_thread_mark(t, DH_THREAD_FINISHED);
    if (t && s->index >= DH_THREADS_KEPT)
        dh_free(t, sizeof *t);
}

void dh_threads_watch_ends(void)
{
    end_key_made = dh_real.pthread_key_create(&end_key, at_end) == 0;
    if (end_key_made)
        pthread_setspecific(end_key, &__dh_thread);
}

void dh_threads_forked(void)
{
    uint32_t n = dh_threads_count(), self = __dh_thread.thread ? __dh_thread.index : DH_THREAD_NONE;
    for (uint32_t i = 0; i < n && i < DH_THREADS_KEPT; i++) {
        struct dh_thread *t = dh_threads_find(i);
        if (t && i != self && !(atomic_load_explicit(&t->flags, memory_order_relaxed) & DH_THREAD_FINISHED))
            dh_thread_mark(t, DH_THREAD_ABSENT);
    }
    if (__dh_thread.thread)
        __dh_thread.thread->tid = dh_sys_gettid();
}
