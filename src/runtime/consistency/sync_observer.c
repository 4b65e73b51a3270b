/* The consistency detector as an observer of synchronisation: what acquires splits the scope of the calling thread,
 * what releases closes it. */
#include "runtime/sync/observer.h"

#include "event/site.h"
#include "runtime/consistency/scopes.h"
#include "runtime/core/instrumented_modules.h"

void dh_consistency_lock_acquired(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    (void)mode, (void)call_slot;
    dh_scopes_lock_acquired(lock);
}

void dh_consistency_lock_released(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    (void)mode, (void)call_slot;
    dh_scopes_lock_released(lock);
}

void dh_consistency_sync_edge(const void *object, enum dh_sync_class c, unsigned edges)
{
    (void)object, (void)c;
    if (edges & (DH_EDGE_RELEASE | DH_EDGE_RELEASE_JOIN))
        dh_scopes_sync_release();
    if (edges & DH_EDGE_ACQUIRE)
        dh_scopes_sync_acquire();
}

void dh_consistency_blocking_end(void)
{
    dh_scopes_sync_acquire();
}

/* ---- threads ---- */

void dh_consistency_thread_spawn(struct dh_thread_birth *birth, const struct dh_thread *created)
{
    (void)birth, (void)created;
    dh_scopes_sync_release();
}

void dh_consistency_fiber_created(const struct dh_thread *created)
{
    (void)created;
    dh_scopes_sync_release();
}

/* The stack may have been another thread's. */
void dh_consistency_thread_start(struct dh_thread_birth *birth)
{
    (void)birth;
    dh_scopes_thread_start();
    dh_scopes_forget_memory((const void *)__dh_thread.stack_low, __dh_thread.stack_high - __dh_thread.stack_low);
}

void dh_consistency_thread_exit(void)
{
    dh_scopes_thread_exit();
}

void dh_consistency_thread_joined(const struct dh_thread *t, const uintptr_t *call_slot)
{
    (void)t, (void)call_slot;
    dh_scopes_sync_acquire();
}

/* ---- memory ---- */

void dh_consistency_memory_allocated(const void *at, size_t size, const uintptr_t *call_slot)
{
    (void)call_slot;
    dh_scopes_forget_memory(at, size);
}

void dh_consistency_memory_mapped(const void *at, size_t size, enum dh_event_region region)
{
    (void)region;
    dh_scopes_forget_memory(at, size);
}

void dh_consistency_memory_unmapped(const void *at, size_t size)
{
    dh_scopes_forget_memory(at, size);
}

void dh_consistency_library_access(const void *at, size_t size, bool write, const uintptr_t *call_slot)
{
    if (__dh_thread.scope_thread && call_slot && dh_module_is_instrumented(*call_slot))
        dh_scopes_access((uintptr_t)at, size, write, __dh_thread.place);
}

/* ---- atomics ---- */

void dh_consistency_atomic_enter(struct dh_atomic_op *op)
{
    if ((op->what & 255) != DH_OP_ATOMIC_LOAD)
        dh_scopes_atomic_begin_change(op->addr);
    if (dh_order_releases(op->what >> 8 & 255))
        dh_scopes_sync_release();
}

void dh_consistency_atomic_leave(struct dh_atomic_op *op, bool wrote)
{
    (void)wrote;
    if ((op->what & 255) != DH_OP_ATOMIC_LOAD)
        dh_scopes_atomic_end_change(op->addr);
    if (dh_order_acquires(op->what >> 8 & 255))
        dh_scopes_sync_acquire();
}

void dh_consistency_atomic_fence(uint32_t order)
{
    (void)order;
    dh_scopes_sync_release();
    dh_scopes_sync_acquire();
}

/* ---- activations of functions ---- */

void dh_consistency_scope_entered(uint32_t token, const void *object, uint32_t place)
{
    (void)place;
    if (__dh_thread.scope_thread)
        dh_scope_push(__dh_thread.scope_thread, token, (uintptr_t)object);
}

void dh_consistency_scope_left(uint32_t token, uint32_t open)
{
    (void)open;
    if (__dh_thread.scope_thread)
        dh_scope_pop(__dh_thread.scope_thread, token);
}
