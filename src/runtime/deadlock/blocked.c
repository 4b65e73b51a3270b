#include "runtime/deadlock/blocked.h"

#include "event/finding_log.h"
#include "runtime/core/alloc.h"
#include "runtime/core/bytes.h"
#include "runtime/core/context.h"
#include "runtime/core/options.h"
#include "runtime/core/raw_syscall.h"
#include "runtime/core/threads.h"
#include "runtime/deadlock/blocked_state.h"

bool dh_blocked_on;
_Atomic(struct dh_blocked *) dh_blocked_records;

static __thread struct dh_blocked *my_wait;
static struct dh_address_map conditions = {.record = sizeof(struct dh_blocked_condition)};
static struct dh_address_map foreign = {.record = sizeof(struct dh_map_node)};

void dh_blocked_start(void)
{
    dh_blocked_on = dh_options_detects("deadlock");
}

/* ---- records ---- */

static struct dh_blocked *free_record(void)
{
    for (struct dh_blocked *b = atomic_load(&dh_blocked_records); b; b = b->next) {
        uint32_t none = 0;
        if (!atomic_load_explicit(&b->used, memory_order_relaxed) && atomic_compare_exchange_strong(&b->used, &none, 1))
            return b;
    }
    struct dh_blocked *b = dh_alloc_forever(sizeof *b);
    if (!b)
        return NULL;
    atomic_store(&b->used, 1);
    b->next = atomic_load(&dh_blocked_records);
    while (!atomic_compare_exchange_weak(&dh_blocked_records, &b->next, b))
        ;
    return b;
}

/* Of a thread that is not known there is none: it counts as running. */
static struct dh_blocked *record(void)
{
    if (my_wait || !__dh_thread.thread || __dh_thread.ended)
        return my_wait;
    struct dh_blocked *b = free_record();
    if (!b)
        return NULL;
    b->described = b->interrupted = false;
    b->n_held = b->n_unlisted = 0;
    b->tid = dh_sys_gettid();
    b->index = __dh_thread.index;
    b->handle = __dh_thread.thread->handle;
    return my_wait = b;
}

void dh_blocked_thread_ends(void)
{
    if (!my_wait)
        return;
    dh_blocked_wait_ends();
    atomic_store(&my_wait->used, 0);
    my_wait = NULL;
}

void dh_blocked_forked(void)
{
    if (!dh_blocked_on)
        return;
    for (struct dh_blocked *b = atomic_load(&dh_blocked_records); b; b = b->next)
        if (b != my_wait)
            atomic_store(&b->used, 0);
    if (my_wait)
        my_wait->tid = dh_sys_gettid();
    dh_blocked_watch_forked();
}

static uint32_t context_of(const uintptr_t *call_slot)
{
    uint32_t id = dh_context_intern(&__dh_thread);
    return call_slot ? dh_context_extend(id, *call_slot) : id;
}

/* ---- conditions ---- */

struct dh_blocked_condition *dh_blocked_condition(uintptr_t condition, bool make)
{
    return make ? dh_map_get(&conditions, condition) : dh_map_find(&conditions, condition);
}

void dh_blocked_note_signal(const void *condition, bool all, const uintptr_t *call_slot)
{
    struct dh_blocked_condition *c = dh_blocked_condition((uintptr_t)condition, true);
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

static void count_waiter(const struct dh_blocked *b, int more)
{
    struct dh_blocked_condition *c = b->role == DH_ROLE_COND_WAIT ? dh_blocked_condition(b->object, more > 0) : NULL;
    if (c)
        atomic_fetch_add(&c->waiting, (uint32_t)more);
}

void dh_blocked_describe(uint32_t role, uintptr_t object, const uintptr_t *call_slot)
{
    struct dh_blocked *b = record();
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

void dh_blocked_wait_begins(void)
{
    if (!my_wait || !my_wait->described || atomic_load(&my_wait->sequence) & 1)
        return;
    atomic_fetch_add(&my_wait->sequence, 1);
    dh_blocked_watch();
}

static void be_awake(void)
{
    if (atomic_load(&my_wait->sequence) & 1)
        atomic_fetch_add(&my_wait->sequence, 1);
}

void dh_blocked_wait_ends(void)
{
    if (!my_wait || !my_wait->described)
        return;
    be_awake();
    my_wait->described = false;
    count_waiter(my_wait, -1);
}

void dh_blocked_wait_interrupted(void)
{
    if (!my_wait || !my_wait->described)
        return;
    be_awake();
    my_wait->described = false;
    my_wait->interrupted = true;
}

void dh_blocked_wait_resumed(void)
{
    if (!my_wait || !my_wait->interrupted)
        return;
    my_wait->described = true;
    my_wait->interrupted = false;
    dh_blocked_wait_begins();
}

/* ---- locks ---- */

static struct dh_blocked_lock *find_held(struct dh_blocked *b, uintptr_t lock)
{
    for (uint32_t i = b->n_held; i-- > 0;)
        if (b->held[i].lock == lock)
            return &b->held[i];
    return NULL;
}

void dh_blocked_note_taken(const void *lock, bool shared, const uintptr_t *call_slot)
{
    struct dh_blocked *b = record();
    struct dh_blocked_lock *l = b ? find_held(b, (uintptr_t)lock) : NULL;
    if (l)
        l->depth++;
    else if (b && b->n_held == DH_BLOCKED_LOCKS)
        b->n_unlisted++;
    else if (b)
        b->held[b->n_held++] = (struct dh_blocked_lock){(uintptr_t)lock, context_of(call_slot), 1, shared};
}

void dh_blocked_note_given(const void *lock)
{
    struct dh_blocked *b = record();
    struct dh_blocked_lock *l = b ? find_held(b, (uintptr_t)lock) : NULL;
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

bool dh_blocked_is_foreign(uintptr_t lock)
{
    return dh_map_find(&foreign, lock) != NULL;
}

const struct dh_blocked_lock *dh_blocked_holds(const struct dh_blocked *b, uintptr_t lock, bool shared)
{
    for (uint32_t i = 0; i < b->n_held && i < DH_BLOCKED_LOCKS; i++)
        if (b->held[i].lock == lock)
            return b->held[i].shared && shared ? NULL : &b->held[i];
    return NULL;
}
