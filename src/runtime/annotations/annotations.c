/* Annotations: those of other race detectors (__tsan_*, Annotate*) and our own (include/deadheat/annotate.h). */
#include "runtime/core/public_hooks.h"

#include "runtime/annotations/annotations.h"

#include "runtime/atomrace/atomrace.h"
#include "runtime/core/threads.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/race/internal.h"
#include "runtime/race/shadow.h"
#include "runtime/race/thread_slots.h"
#include "runtime/report/vector_state.h"
#include "runtime/sync/sync.h"

#pragma GCC visibility push(default)
#include <deadheat/annotate_abi.h>
#pragma GCC visibility pop

/* ---- a broken promise ---- */

static void fill_object(struct dh_report *r)
{
    struct dh_heap_block block;
    if (!dh_heap_block_around(r->addr, &block))
        return;
    r->block = block.at;
    r->n_block = block.size;
    r->block_thread = block.thread;
    r->block_context = block.context;
}

static void report_misuse(struct dh_race_state *s, struct dh_report *r, const uintptr_t *call_slot)
{
    struct dh_report_access *a = &r->access[0];
    struct dh_vector_state saved;
    a->thread = s->index;
    a->place = UINT32_MAX;
    a->context = dh_race_call_context(s, call_slot);
    a->addr = r->addr;
    a->size = r->size;
    for (uint32_t i = 0; i < s->n_held && i < DH_REPORT_LOCKS; i++)
        a->lock[a->n_locks++] = (struct dh_report_lock){s->held[i].lock, s->held[i].context, s->held[i].shared};
    fill_object(r);
    dh_vector_save(&saved);
    dh_report(r);
    dh_vector_restore(&saved);
}

void dh_annotation_broken(enum dh_finding_kind kind, const void *at, size_t size, uint32_t flags, const char *text,
                          const uintptr_t *call_slot)
{
    struct dh_race_state *s = __dh_thread.race;
    struct dh_report_access access = {.flags = flags};
    struct dh_report r = {.kind = kind,
                          .detector = "race",
                          .access = &access,
                          .n_accesses = 1,
                          .addr = (uintptr_t)at,
                          .size = (uint32_t)size,
                          .text = text};
    if (!dh_race_enter(s))
        return;
    report_misuse(s, &r, call_slot);
    dh_race_leave(s);
}

static void misused(const void *lock, const char *text, const uintptr_t *call_slot)
{
    dh_annotation_broken(DH_FINDING_LOCK_MISUSE, lock, 0, 0, text, call_slot);
}

/* ---- order through an object ---- */

DH_ANNOTATION void __tsan_acquire(void *object)
{
    dh_sync_acquire(object, DH_SYNC_ANNOTATION);
}

DH_ANNOTATION void __tsan_release(void *object)
{
    dh_sync_release_join(object, DH_SYNC_ANNOTATION);
}

/* ---- locks of the program's own making ---- */

enum {
    READ_REENTRANT = 1 << 2,
    WRITE_REENTRANT = 1 << 1,
    READ_LOCK = 1 << 3,
    TRY_LOCK_FAILED = 1 << 5,
    RECURSIVE = 1 << 6,        /* lock: as often as is said */
    RECURSIVE_UNLOCK = 1 << 7, /* unlock: however often it was locked */
    RECURSION_MOST = 1 << 16
};

static void acquired(const void *lock, unsigned flags, int recursion, const uintptr_t *call_slot)
{
    bool shared = flags & READ_LOCK;
    int times = flags & RECURSIVE && recursion > 0 ? recursion : 1;
    if (dh_lock_held(lock) && !(flags & (shared ? READ_REENTRANT | RECURSIVE : WRITE_REENTRANT | RECURSIVE)) && !shared)
        misused(lock, "the thread takes a lock that it holds already", call_slot);
    for (int i = 0; i < times && i < RECURSION_MOST; i++)
        dh_lock_acquired(lock, shared ? DH_LOCK_SHARED : DH_LOCK_EXCLUSIVE, call_slot);
}

static int released(const void *lock, unsigned flags, const uintptr_t *call_slot)
{
    int held = (int)dh_lock_held(lock), times = flags & RECURSIVE_UNLOCK && held ? held : 1;
    if (!dh_lock_may_be_held(lock) && __dh_thread.race && dh_race_on)
        misused(lock, "the thread gives back a lock that it does not hold", call_slot);
    for (int i = 0; i < times; i++)
        dh_lock_released(lock, DH_LOCK_EXCLUSIVE, call_slot);
    return times;
}

static void destroyed(const void *lock, const uintptr_t *call_slot)
{
    if (dh_lock_held(lock)) {
        misused(lock, "a lock is destroyed that the thread still holds", call_slot);
        while (dh_lock_held(lock))
            dh_lock_released(lock, DH_LOCK_EXCLUSIVE, call_slot);
    }
    dh_lock_destroyed(lock, call_slot);
}

DH_ANNOTATION void __tsan_mutex_create(void *lock, unsigned flags)
{
    (void)flags;
    dh_lock_init(lock, DH_CALL_SLOT);
}

DH_ANNOTATION void __tsan_mutex_destroy(void *lock, unsigned flags)
{
    (void)flags;
    destroyed(lock, DH_CALL_SLOT);
}

DH_ANNOTATION void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion)
{
    dh_ignore_end(DH_IGNORED_ALL);
    if (!(flags & TRY_LOCK_FAILED))
        acquired(lock, flags, recursion, DH_CALL_SLOT);
}

DH_ANNOTATION int __tsan_mutex_pre_unlock(void *lock, unsigned flags)
{
    int times = released(lock, flags, DH_CALL_SLOT);
    dh_ignore_begin(DH_IGNORED_ALL);
    return times;
}

/* How the lock is implemented does not matter: between pre and post nothing is observed. `divert` leaves that for a
 * while, for code of the program. */
#define BRACKET(name, notify)                                                                                          \
    DH_ANNOTATION void __tsan_mutex_##name(void *lock, unsigned flags)                                                 \
    {                                                                                                                  \
        (void)lock, (void)flags;                                                                                       \
        notify(DH_IGNORED_ALL);                                                                                        \
    }
BRACKET(pre_lock, dh_ignore_begin)
BRACKET(post_unlock, dh_ignore_end)
BRACKET(pre_signal, dh_ignore_begin)
BRACKET(post_signal, dh_ignore_end)
BRACKET(pre_divert, dh_ignore_end)
BRACKET(post_divert, dh_ignore_begin)

/* ---- races that are meant ---- */

enum { PIECE = 64 };
static _Atomic bool any_intended;

/* In pieces that lie in one line each, so that a byte's piece is found near it. They go with the memory. */
static void intend(uintptr_t at, size_t size)
{
    for (uintptr_t end = at + size; at < end;) {
        size_t n = PIECE - at % PIECE;
        n = end - at < n ? end - at : n;
        struct dh_sync_object *o = dh_sync_object_lock(at, true);
        if (!o)
            return;
        o->benign = o->benign < n ? (uint8_t)n : o->benign;
        dh_sync_object_unlock(o);
        at += n;
    }
}

static void intended_race(const volatile void *at, size_t size)
{
    struct dh_race_state *s = __dh_thread.race;
    dh_atom_add_benign((uintptr_t)at, size);
    if (!size || !dh_race_enter(s))
        return;
    any_intended = true;
    intend((uintptr_t)at, size);
    dh_race_leave(s);
}

static bool is_intended_byte(uintptr_t at)
{
    for (uintptr_t from = at; from >= (at & ~(uintptr_t)(PIECE - 1)); from--) {
        struct dh_sync_object *o = dh_sync_object_lock(from, false);
        unsigned n = o ? o->benign : 0;
        if (o)
            dh_sync_object_unlock(o);
        if (n > at - from)
            return true;
        if (!from)
            break;
    }
    return false;
}

bool dh_race_is_benign(uintptr_t addr, size_t size)
{
    if (!any_intended)
        return false;
    for (size_t i = 0; i < size; i++)
        if (!is_intended_byte(addr + i))
            return false;
    return size;
}

/* ---- our own ---- */

DH_ANNOTATION void __deadheat_intended_race(const volatile void *at, size_t size, const char *reason)
{
    (void)reason;
    intended_race(at, size);
}

DH_ANNOTATION void __deadheat_transfer(const volatile void *at, size_t size)
{
    dh_sync_release_join((const void *)at, DH_SYNC_ANNOTATION);
    dh_memory_transferred((const void *)at, size, DH_CALL_SLOT);
}

DH_ANNOTATION void __deadheat_accept(const volatile void *at, size_t size)
{
    dh_sync_acquire((const void *)at, DH_SYNC_ANNOTATION);
    dh_memory_accepted((const void *)at, size);
}

DH_ANNOTATION void __deadheat_assert_held(const volatile void *lock)
{
    if (__dh_thread.race && !dh_lock_may_be_held((const void *)lock))
        dh_annotation_broken(DH_FINDING_ANNOTATION, (const void *)lock, 0, 0,
                             "the thread does not hold the lock that the source says it holds (DEADHEAT_ASSERT_HELD)",
                             DH_CALL_SLOT);
}

DH_ANNOTATION void __deadheat_lock_taken(const volatile void *lock, int shared)
{
    dh_ignore_end(DH_IGNORED_ALL);
    acquired((const void *)lock, (shared ? READ_LOCK : 0) | READ_REENTRANT, 0, DH_CALL_SLOT);
}

DH_ANNOTATION void __deadheat_lock_giving(const volatile void *lock)
{
    released((const void *)lock, 0, DH_CALL_SLOT);
    dh_ignore_begin(DH_IGNORED_ALL);
}

DH_ANNOTATION void __deadheat_ignore_begin(void)
{
    dh_ignore_begin(DH_IGNORED_ALL);
}

DH_ANNOTATION void __deadheat_ignore_end(void)
{
    dh_ignore_end(DH_IGNORED_ALL);
}

/* ---- Annotate*, of dynamic_annotations.h ---- */

static void ignore_end(enum dh_ignored what, const char *text, const uintptr_t *call_slot)
{
    bool begun = !__dh_thread.race || __dh_thread.race->ignoring[what];
    dh_ignore_end(what);
    if (!begun)
        dh_annotation_broken(DH_FINDING_ANNOTATION, NULL, 0, 0, text, call_slot);
}

#define UNUSED_PLACE (void)file, (void)line
#define IGNORES(what, name)                                                                                            \
    DH_ANNOTATION void AnnotateIgnore##name##Begin(const char *file, int line)                                         \
    {                                                                                                                  \
        UNUSED_PLACE;                                                                                                  \
        dh_ignore_begin(what);                                                                                         \
    }                                                                                                                  \
    DH_ANNOTATION void AnnotateIgnore##name##End(const char *file, int line)                                           \
    {                                                                                                                  \
        UNUSED_PLACE;                                                                                                  \
        ignore_end(what, "AnnotateIgnore" #name "End without a Begin", DH_CALL_SLOT);                                  \
    }
IGNORES(DH_IGNORED_READS, Reads)
IGNORES(DH_IGNORED_WRITES, Writes)
IGNORES(DH_IGNORED_SYNC, Sync)

DH_ANNOTATION void AnnotateHappensBefore(const char *file, int line, const volatile void *object)
{
    UNUSED_PLACE;
    dh_sync_release_join((const void *)object, DH_SYNC_ANNOTATION);
}

DH_ANNOTATION void AnnotateHappensAfter(const char *file, int line, const volatile void *object)
{
    UNUSED_PLACE;
    dh_sync_acquire((const void *)object, DH_SYNC_ANNOTATION);
}

DH_ANNOTATION void AnnotateRWLockCreate(const char *file, int line, const volatile void *lock)
{
    UNUSED_PLACE;
    dh_lock_init((const void *)lock, DH_CALL_SLOT);
}

DH_ANNOTATION void AnnotateRWLockCreateStatic(const char *file, int line, const volatile void *lock)
{
    UNUSED_PLACE;
    (void)lock;
}

DH_ANNOTATION void AnnotateRWLockDestroy(const char *file, int line, const volatile void *lock)
{
    UNUSED_PLACE;
    destroyed((const void *)lock, DH_CALL_SLOT);
}

DH_ANNOTATION void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long is_writer)
{
    UNUSED_PLACE;
    acquired((const void *)lock, is_writer ? WRITE_REENTRANT : READ_LOCK | READ_REENTRANT, 0, DH_CALL_SLOT);
}

DH_ANNOTATION void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long is_writer)
{
    UNUSED_PLACE;
    (void)is_writer;
    released((const void *)lock, 0, DH_CALL_SLOT);
}

DH_ANNOTATION void AnnotateBenignRaceSized(const char *file, int line, const volatile void *at, size_t size,
                                           const char *reason)
{
    UNUSED_PLACE;
    (void)reason;
    intended_race(at, size);
}

/* A variable whose size is not said: what a word can hold. */
DH_ANNOTATION void AnnotateBenignRace(const char *file, int line, const volatile void *at, const char *reason)
{
    AnnotateBenignRaceSized(file, line, at, sizeof(long), reason);
}

DH_ANNOTATION void AnnotateNewMemory(const char *file, int line, const volatile void *at, size_t size)
{
    UNUSED_PLACE;
    dh_memory_mapped((const void *)at, size, DH_MEMORY_HEAP);
}

DH_ANNOTATION void AnnotateThreadName(const char *file, int line, const char *name)
{
    UNUSED_PLACE;
    dh_thread_set_name(__dh_thread.thread, name);
}

/* Said for tools with other needs. */
#define EMPTY(name, ...)                                                                                               \
    DH_ANNOTATION void name(const char *file, int line, ##__VA_ARGS__)                                                 \
    {                                                                                                                  \
        UNUSED_PLACE;                                                                                                  \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
EMPTY(AnnotateFlushState)
EMPTY(AnnotateEnableRaceDetection, int enable)
EMPTY(AnnotateExpectRace, const volatile void *at, const char *reason)
EMPTY(AnnotateMutexIsUsedAsCondVar, const volatile void *lock)
EMPTY(AnnotateMutexIsNotPHB, const volatile void *lock)
EMPTY(AnnotateCondVarSignal, const volatile void *cv)
EMPTY(AnnotateCondVarSignalAll, const volatile void *cv)
EMPTY(AnnotateCondVarWait, const volatile void *cv, const volatile void *lock)
EMPTY(AnnotatePublishMemoryRange, const volatile void *at, size_t size)
EMPTY(AnnotateUnpublishMemoryRange, const volatile void *at, size_t size)
EMPTY(AnnotatePCQCreate, const volatile void *queue)
EMPTY(AnnotatePCQDestroy, const volatile void *queue)
EMPTY(AnnotatePCQPut, const volatile void *queue)
EMPTY(AnnotatePCQGet, const volatile void *queue)
EMPTY(AnnotateTraceMemory, const volatile void *at)
EMPTY(AnnotateNoOp, const volatile void *at)

#define OTHER_NAME(name) extern __typeof__(name) WTF##name __attribute__((weak, alias(#name), visibility("default")))
OTHER_NAME(AnnotateHappensBefore);
OTHER_NAME(AnnotateHappensAfter);
OTHER_NAME(AnnotateBenignRaceSized);

/* ---- guarded by a lock ---- */

/* A wrapper is the lock that lies in it. */
static bool holds(const struct dh_race_state *s, uintptr_t lock, size_t size)
{
    for (uint32_t i = 0; i < s->n_held; i++)
        if (s->held[i].lock - lock < (size ? size : 1))
            return true;
    return s->n_held == DH_HELD_LOCKS;
}

static bool was_acquired(uintptr_t lock, size_t size)
{
    enum { MOST = 256 };
    for (size_t i = 0; i == 0 || (i < size && i < MOST); i += 4) {
        struct dh_sync_object *o = dh_sync_object_lock(lock + i, false);
        bool is_lock = o && o->is_lock;
        if (o)
            dh_sync_object_unlock(o);
        if (is_lock)
            return true;
    }
    return false;
}

/* Only this thread has accessed it so far: it is being made, and nobody else knows it. */
static bool is_private(const struct dh_race_state *s, uintptr_t addr)
{
    dh_cell c = __atomic_load_n(dh_shadow_of(addr & ~(uintptr_t)3), __ATOMIC_RELAXED);
    unsigned mine = dh_epoch_slot(s->t.time), reader = dh_epoch_slot(dh_cell_read(c)),
             writer = dh_epoch_slot(dh_cell_write(c));
    return !dh_cell_is_line(c) && (!reader || reader == mine || reader == DH_SLOT_FREED) &&
           (!writer || writer == mine || writer == DH_SLOT_FREED);
}

static bool others_live(void)
{
    uint32_t n = dh_threads_count();
    for (uint32_t i = 0; i < n && i < DH_THREADS_KEPT; i++) {
        const struct dh_thread *t = dh_threads_find(i);
        if (t && i != __dh_thread.index && !(atomic_load(&t->flags) & (DH_THREAD_FINISHED | DH_THREAD_ABSENT)))
            return true;
    }
    return false;
}

/* Not inside enter/leave: the report is made there. */
static bool breaks_guard(struct dh_race_state *s, uintptr_t addr, uintptr_t lock, uint64_t what)
{
    size_t size = what >> DH_GUARDED_LOCK_SHIFT;
    if (holds(s, lock, size) || !dh_race_enter(s))
        return false;
    bool broken = (what & DH_GUARDED_CALL || !is_private(s, addr)) &&
                  !dh_race_is_benign(addr, what & DH_GUARDED_SIZE) &&
                  (what & DH_GUARDED_SURE || was_acquired(lock, size)) && others_live();
    dh_race_leave(s);
    return broken;
}

void __dh_guarded(const void *addr, const void *lock, uint64_t what, const char *words)
{
    struct dh_race_state *s = __dh_thread.race;
    char text[DH_PRINT_BUFFER];
    bool write = what & DH_GUARDED_WRITE;
    if (!s || dh_race_ignores(s, write ? DH_IGNORED_WRITES : DH_IGNORED_READS) ||
        !breaks_guard(s, (uintptr_t)addr, (uintptr_t)lock, what))
        return;
    dh_print_text(text, sizeof text, "the source says %s, and the thread does not hold it", words);
    dh_annotation_broken(DH_FINDING_ANNOTATION, addr, what & DH_GUARDED_SIZE, write ? DH_LOG_WRITE : 0, text,
                         DH_CALL_SLOT);
}
