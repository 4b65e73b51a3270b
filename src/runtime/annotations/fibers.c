/* Fibers (user-level threads), declared by the annotations __tsan_*_fiber. A fiber has a thread record, a clock, a
 * history and a shadow stack; a switch parks those of the running fiber and moves the other's into thread-local
 * storage. A fiber may be parked by one kernel thread and resumed by another; parked, it is like a blocked thread: its
 * slot may be borrowed. */
#include "runtime/annotations/annotations.h"

#include "runtime/core/context.h"
#include "runtime/core/frames.h"
#include "runtime/core/parts.h"
#include "runtime/core/threads.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/spin.h"
#include "runtime/race/internal.h"
#include "runtime/race/thread_slots.h"
#include "runtime/record/record.h"
#include "runtime/sync/sync.h"

#pragma GCC visibility push(default)
#include <deadheat/annotate_abi.h>
#pragma GCC visibility pop

enum { NO_SYNC = 1 };

struct fiber {
    struct dh_thread_state parked; /* the fiber's fields; the others belong to the kernel thread */
    struct fiber *next, *before;
    bool native; /* of a kernel thread itself */
};

static struct fiber *all;
static dh_spin lock = DH_SPIN_INIT(DH_RANK_RACE_FIBERS);
static __thread struct fiber own; /* of the kernel thread */
static __thread struct fiber *current;

static void park(struct fiber *f)
{
    struct dh_thread_state *t = &__dh_thread;
    struct dh_race_state *s = t->race;
    dh_blocking_begin();
    dh_fiber_parked(f);
    f->parked.depth = t->depth;
    f->parked.capacity = t->capacity;
    f->parked.frames = t->frames;
    f->parked.stack_low = t->stack_low;
    f->parked.stack_high = t->stack_high;
    f->parked.thread = t->thread;
    f->parked.index = t->index;
    f->parked.place = t->place;
    f->parked.race = s;
    f->parked.record = t->record;
    f->parked.own = t->own;
    if (s)
        __atomic_store_n(&s->tls, &f->parked, __ATOMIC_RELEASE);
}

/* A signal handler in between sees a thread without frames and without a state. */
static void resume(struct fiber *f)
{
    struct dh_thread_state *t = &__dh_thread;
    struct dh_race_state *s = f->parked.race;
    t->own = 0;
    t->stamp = 0;
    t->known = dh_knows_nothing;
    t->race = NULL;
    t->capacity = 0;
    dh_record_become(NULL);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->depth = f->parked.depth;
    t->frames = f->parked.frames;
    t->stack_low = f->parked.stack_low;
    t->stack_high = f->parked.stack_high;
    t->thread = f->parked.thread;
    t->index = f->parked.index;
    t->place = f->parked.place;
    t->spared[0] = t->spared[1] = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->capacity = f->parked.capacity;
    dh_record_become(f->parked.record);
    dh_fiber_resumed(f);
    if (!s)
        return;
    s->thread_pointer = (uintptr_t)__builtin_thread_pointer();
    __atomic_store_n(&s->tls, t, __ATOMIC_RELEASE);
    t->own = f->parked.own;
    t->known = s->known;
    t->stamp = s->known_stamp;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->race = s;
    dh_blocking_end();
}

static void enlist(struct fiber *f)
{
    dh_spin_lock(&lock);
    f->next = all;
    if (all)
        all->before = f;
    all = f;
    dh_spin_unlock(&lock);
}

static void delist(struct fiber *f)
{
    dh_spin_lock(&lock);
    if (f->before)
        f->before->next = f->next;
    else
        all = f->next;
    if (f->next)
        f->next->before = f->before;
    dh_spin_unlock(&lock);
}

static struct fiber *current_fiber(void)
{
    if (!current) {
        own.native = true;
        current = &own;
    }
    return current;
}

DH_ANNOTATION void *__tsan_get_current_fiber(void)
{
    return current_fiber();
}

DH_ANNOTATION void *__tsan_create_fiber(unsigned flags)
{
    (void)flags;
    struct fiber *f = dh_alloc(sizeof *f);
    if (!f)
        return NULL;
    *f = (struct fiber){0};
    uint32_t context = dh_context_extend(dh_context_intern(&__dh_thread), *DH_CALL_SLOT);
    struct dh_thread *record = dh_thread_new(context, true);
    f->parked.thread = record;
    f->parked.index = record ? record->index : DH_THREAD_NONE;
    dh_frames_init(&f->parked);
    f->parked.race = dh_race_on && __dh_thread.race ? dh_race_state_parked(&f->parked) : NULL;
    dh_fiber_created(record);
    f->parked.record = record ? dh_record_state_new(&f->parked) : NULL;
    enlist(f);
    return f;
}

DH_ANNOTATION void __tsan_destroy_fiber(void *fiber)
{
    struct fiber *f = fiber;
    if (!f || f->native)
        return;
    if (f == current) {
        dh_annotation_broken(DH_FINDING_ANNOTATION, NULL, 0, 0, "a fiber is destroyed while it runs", DH_CALL_SLOT);
        return;
    }
    delist(f);
    dh_sync_forget(f, DH_SYNC_OTHER);
    if (f->parked.race)
        dh_race_state_end(f->parked.race);
    if (f->parked.record)
        dh_record_state_end(f->parked.record);
    dh_frames_release(&f->parked);
    dh_thread_mark(f->parked.thread, DH_THREAD_FINISHED);
    dh_free(f, sizeof *f);
}

DH_ANNOTATION void __tsan_switch_to_fiber(void *fiber, unsigned flags)
{
    struct fiber *to = fiber, *from = current_fiber();
    bool ordered = !(flags & NO_SYNC);
    if (!to || to == from)
        return;
    if (ordered)
        dh_sync_release_join(to, DH_SYNC_OTHER);
    park(from);
    current = to;
    resume(to);
    if (ordered)
        dh_sync_acquire(to, DH_SYNC_OTHER);
}

DH_ANNOTATION void __tsan_set_fiber_name(void *fiber, const char *name)
{
    struct fiber *f = fiber;
    if (f)
        dh_thread_set_name(f == current ? __dh_thread.thread : f->parked.thread, name);
}

/* A kernel thread that ends within a fiber leaves it parked, and ends as itself. */
void dh_fibers_thread_ends(void)
{
    if (current && !current->native) {
        park(current);
        current = &own;
        resume(&own);
    }
}

void dh_fibers_forked(void)
{
    dh_spin_forked(&lock);
    for (struct fiber *f = all; f; f = f->next)
        if (f != current && f->parked.race) {
            f->parked.own = DH_OWN_BORROWED;
            atomic_store(&f->parked.race->gate.borrowed, 1);
        }
    if (current && current != &own && own.parked.race) {
        own.parked.own = DH_OWN_BORROWED;
        atomic_store(&own.parked.race->gate.borrowed, 1);
    }
}
