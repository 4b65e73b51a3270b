/* Which thread waits for which lock, condition or thread, as an observer of synchronisation. */
#include "runtime/deadlock/deadlock.h"

#include "event/finding_log.h"
#include "runtime/core/context.h"
#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/threads.h"
#include "runtime/deadlock/state.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/sync/observer.h"

bool dh_deadlock_on;
_Atomic(struct dh_deadlock_thread *) dh_deadlock_threads;

static __thread struct dh_deadlock_thread *my_wait;
static struct dh_address_map conditions = {.record = sizeof(struct dh_deadlock_condition)};
static struct dh_address_map foreign = {.record = sizeof(struct dh_map_node)};

void dh_deadlock_start(void)
{
    dh_deadlock_on = dh_options_detects("deadlock");
}

/* ---- records ---- */

static struct dh_deadlock_thread *free_record(void)
{
    for (struct dh_deadlock_thread *b = atomic_load(&dh_deadlock_threads); b; b = b->next) {
        uint32_t none = 0;
        if (!atomic_load_explicit(&b->used, memory_order_relaxed) && atomic_compare_exchange_strong(&b->used, &none, 1))
            return b;
    }
    struct dh_deadlock_thread *b = dh_alloc_forever(sizeof *b);
    if (!b)
        return NULL;
    atomic_store(&b->used, 1);
    b->next = atomic_load(&dh_deadlock_threads);
    while (!atomic_compare_exchange_weak(&dh_deadlock_threads, &b->next, b))
        ;
    return b;
}

/* Of a thread that is not known there is none: it counts as running. */
static struct dh_deadlock_thread *record(void)
{
    if (my_wait || !__dh_thread.thread || __dh_thread.ended)
        return my_wait;
    struct dh_deadlock_thread *b = free_record();
    if (!b)
        return NULL;
    b->described = b->interrupted = false;
    b->n_held = b->n_unlisted = 0;
    b->tid = dh_sys_gettid();
    b->index = __dh_thread.index;
    b->handle = __dh_thread.thread->handle;
    return my_wait = b;
}

void dh_deadlock_thread_exit(void)
{
    if (!my_wait)
        return;
    dh_deadlock_watched_wait_end();
    atomic_store(&my_wait->used, 0);
    my_wait = NULL;
}

void dh_deadlock_forked(void)
{
    if (!dh_deadlock_on)
        return;
    for (struct dh_deadlock_thread *b = atomic_load(&dh_deadlock_threads); b; b = b->next)
        if (b != my_wait)
            atomic_store(&b->used, 0);
    if (my_wait)
        my_wait->tid = dh_sys_gettid();
    dh_deadlock_watch_forked();
}

static uint32_t context_of(const uintptr_t *call_slot)
{
    uint32_t id = dh_context_intern(&__dh_thread);
    return call_slot ? dh_context_extend(id, *call_slot) : id;
}

/* ---- conditions ---- */

struct dh_deadlock_condition *dh_deadlock_condition(uintptr_t condition, bool make)
{
    return make ? dh_map_get(&conditions, condition) : dh_map_find(&conditions, condition);
}

void dh_deadlock_condition_signal(const void *condition, bool all, const uintptr_t *call_slot)
{
    struct dh_deadlock_condition *c = dh_deadlock_condition((uintptr_t)condition, true);
    if (!c)
        return;
    atomic_fetch_add(&c->signals, 1);
    if (atomic_load(&c->waiting) || atomic_load(&c->lone))
        return;
    c->all = all;
    c->thread = __dh_thread.index;
    c->context = context_of(call_slot);
    atomic_store(&c->lone, true);
}

/* ---- waits ---- */

static void count_waiter(const struct dh_deadlock_thread *b, int more)
{
    struct dh_deadlock_condition *c = b->role == DH_ROLE_COND_WAIT ? dh_deadlock_condition(b->object, more > 0) : NULL;
    if (c)
        atomic_fetch_add(&c->waiting, (uint32_t)more);
}

static void describe(uint32_t role, uintptr_t object, const uintptr_t *call_slot)
{
    struct dh_deadlock_thread *b = record();
    if (!b || b->described)
        return;
    if (b->interrupted) /* by a handler that waits itself: when it is through, what it came between is forgotten */
        count_waiter(b, -1);
    b->interrupted = false;
    b->role = role;
    b->object = object;
    b->context = context_of(call_slot);
    count_waiter(b, 1);
    b->described = true;
}

void dh_deadlock_lock_wait(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    if (!(mode & (DH_LOCK_TIMED | DH_LOCK_UNWATCHED)))
        describe(mode & DH_LOCK_SHARED ? DH_ROLE_RDLOCK_WAIT : DH_ROLE_LOCK_WAIT, (uintptr_t)lock, call_slot);
}

void dh_deadlock_condition_wait(const void *condition, const void *mutex, unsigned mode, const uintptr_t *call_slot)
{
    (void)mutex;
    if (!(mode & (DH_LOCK_TIMED | DH_LOCK_UNWATCHED)))
        describe(DH_ROLE_COND_WAIT, (uintptr_t)condition, call_slot);
}

void dh_deadlock_sync_block(const void *object, enum dh_sync_class c, unsigned flags, uintptr_t watched,
                            const uintptr_t *call_slot)
{
    (void)object, (void)flags;
    if (watched)
        describe(c == DH_SYNC_THREAD      ? DH_ROLE_JOIN
                 : c == DH_SYNC_SEMAPHORE ? DH_ROLE_SEM_WAIT
                                          : DH_ROLE_BARRIER_WAIT,
                 watched, call_slot);
}

void dh_deadlock_watched_wait_begin(void)
{
    if (!my_wait || !my_wait->described || atomic_load(&my_wait->sequence) & 1)
        return;
    atomic_fetch_add(&my_wait->sequence, 1);
    dh_deadlock_watch();
}

static void be_awake(void)
{
    if (atomic_load(&my_wait->sequence) & 1)
        atomic_fetch_add(&my_wait->sequence, 1);
}

void dh_deadlock_watched_wait_end(void)
{
    if (!my_wait || !my_wait->described)
        return;
    be_awake();
    my_wait->described = false;
    count_waiter(my_wait, -1);
}

void dh_deadlock_watched_wait_interrupted(void)
{
    if (!my_wait || !my_wait->described)
        return;
    be_awake();
    my_wait->described = false;
    my_wait->interrupted = true;
}

void dh_deadlock_watched_wait_resumed(void)
{
    if (!my_wait || !my_wait->interrupted)
        return;
    my_wait->described = true;
    my_wait->interrupted = false;
    dh_deadlock_watched_wait_begin();
}

/* ---- locks ---- */

static struct dh_held_lock *find_held(struct dh_deadlock_thread *b, uintptr_t lock)
{
    return dh_held_lock_find(b->held, b->n_held, lock);
}

void dh_deadlock_lock_acquired(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    struct dh_deadlock_thread *b = record();
    struct dh_held_lock *l = b ? find_held(b, (uintptr_t)lock) : NULL;
    if (l)
        l->depth++;
    else if (b && b->n_held == DH_DEADLOCK_LOCKS)
        b->n_unlisted++;
    else if (b)
        b->held[b->n_held++] = (struct dh_held_lock){(uintptr_t)lock, context_of(call_slot), 1, mode & DH_LOCK_SHARED};
}

void dh_deadlock_lock_released(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    (void)mode, (void)call_slot;
    struct dh_deadlock_thread *b = record();
    struct dh_held_lock *l = b ? find_held(b, (uintptr_t)lock) : NULL;
    if (!l) {
        if (b && b->n_unlisted)
            b->n_unlisted--;
        else
            dh_map_get(&foreign, (uintptr_t)lock);
        return;
    }
    if (--l->depth)
        return;
    for (; l + 1 < b->held + b->n_held; l++)
        l[0] = l[1];
    b->n_held--;
}

bool dh_deadlock_has_unknown_owner(uintptr_t lock)
{
    return dh_map_find(&foreign, lock) != NULL;
}

const struct dh_held_lock *dh_deadlock_holds(const struct dh_deadlock_thread *b, uintptr_t lock, bool shared)
{
    for (uint32_t i = 0; i < b->n_held && i < DH_DEADLOCK_LOCKS; i++)
        if (b->held[i].lock == lock)
            return b->held[i].shared && shared ? NULL : &b->held[i];
    return NULL;
}
