/* Adversarial memory as an observer of synchronisation: happens-before by stale/happens_before.c, and memory that is
 * new or freed, which has no past. Racy elements are found again in blocks that are allocated. */
#include "runtime/sync/observer.h"

#include "runtime/core/threads.h"
#include "runtime/stale/racy_elements.h"
#include "runtime/stale/stale.h"

void dh_stale_lock_acquired(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    (void)mode, (void)call_slot;
    dh_stale_hb_edge(lock, DH_STALE_ACQUIRE);
}

void dh_stale_lock_released(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    (void)mode, (void)call_slot;
    dh_stale_hb_edge(lock, DH_STALE_RELEASE);
}

void dh_stale_sync_edge(const void *object, enum dh_sync_class c, unsigned edges)
{
    (void)c;
    dh_stale_hb_edge(object, (edges & DH_EDGE_ACQUIRE ? DH_STALE_ACQUIRE : 0u) |
                                 (edges & (DH_EDGE_RELEASE | DH_EDGE_RELEASE_JOIN) ? DH_STALE_RELEASE : 0u));
}

void dh_stale_atomic_fence(uint32_t order)
{
    dh_stale_fence(order);
}

/* ---- threads ---- */

void dh_stale_thread_spawn(struct dh_thread_birth *birth, const struct dh_thread *created)
{
    if (created)
        birth->stale = dh_stale_thread_create(created->index);
}

void dh_stale_thread_spawn_failed(struct dh_thread_birth *birth)
{
    dh_stale_thread_abandon(birth->stale);
    birth->stale = NULL;
}

void dh_stale_thread_start(struct dh_thread_birth *birth)
{
    dh_stale_forget((const void *)__dh_thread.stack_low, __dh_thread.stack_high - __dh_thread.stack_low);
    dh_stale_thread_begin(birth->stale);
    birth->stale = NULL;
}

void dh_stale_thread_exit(void)
{
    dh_stale_thread_end(dh_thread_end_object(__dh_thread.index));
}

void dh_stale_thread_joined(const struct dh_thread *t, const uintptr_t *call_slot)
{
    (void)call_slot;
    dh_stale_hb_edge(dh_thread_end_object(t->index), DH_STALE_ACQUIRE);
    dh_stale_forget_object(dh_thread_end_object(t->index));
}

void dh_stale_fiber_parked(const void *fiber)
{
    dh_stale_hb_edge(fiber, DH_STALE_RELEASE);
}

void dh_stale_fiber_resumed(const void *fiber)
{
    dh_stale_hb_edge(fiber, DH_STALE_ACQUIRE);
}

/* ---- memory ---- */

void dh_stale_memory_allocated(const void *at, size_t size, const uintptr_t *call_slot)
{
    (void)call_slot;
    dh_stale_forget(at, size);
    if (dh_racy_elements_wanted)
        dh_stale_resample();
}

void dh_stale_memory_freed(const void *at, const uintptr_t *call_slot)
{
    (void)call_slot;
    if (at)
        dh_stale_forget_block(at);
}

void dh_stale_memory_mapped(const void *at, size_t size, enum dh_event_region region)
{
    (void)region;
    dh_stale_forget(at, size);
}

void dh_stale_memory_unmapped(const void *at, size_t size)
{
    dh_stale_forget(at, size);
}

/* ---- racy elements, for the engine, too ---- */

void dh_racy_elements_memory_allocated(const void *at, size_t size, const uintptr_t *call_slot)
{
    (void)call_slot;
    if (at)
        dh_racy_elements_allocated(at, size);
}

void dh_racy_elements_memory_freed(const void *at, const uintptr_t *call_slot)
{
    (void)call_slot;
    if (at)
        dh_racy_elements_freed(at);
}
