/* AtomRace and noise as observers of synchronisation: it ends the window of an access, and is a place for noise. */
#include "runtime/sync/observer.h"

#include "runtime/atomrace/atomrace.h"
#include "runtime/atomrace/noise.h"

void dh_atomrace_lock_acquired(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    (void)lock, (void)mode, (void)call_slot;
    dh_atom_synchronised(DH_ATOM_SYNC_ACQUIRE);
}

void dh_atomrace_lock_released(const void *lock, unsigned mode, const uintptr_t *call_slot)
{
    (void)lock, (void)mode, (void)call_slot;
    dh_atom_synchronised(DH_ATOM_SYNC_RELEASE);
}

void dh_atomrace_lock_request(void)
{
    if (dh_noise_on)
        dh_noise_at_sync();
}

void dh_atomrace_signal_delivered(void)
{
    dh_atom_interrupted();
}

void dh_atomrace_sync_point(void)
{
    dh_atom_synchronised(DH_ATOM_SYNC_OTHER);
}

void dh_atomrace_sync_edge(const void *object, enum dh_sync_class c, unsigned edges)
{
    (void)object, (void)c, (void)edges;
    dh_atom_synchronised(DH_ATOM_SYNC_OTHER);
}

void dh_atomrace_thread_spawn(struct dh_thread_birth *birth, const struct dh_thread *created)
{
    (void)birth, (void)created;
    dh_atom_synchronised(DH_ATOM_SYNC_OTHER);
}

void dh_atomrace_fiber_created(const struct dh_thread *created)
{
    (void)created;
    dh_atom_synchronised(DH_ATOM_SYNC_OTHER);
}

void dh_atomrace_thread_joined(const struct dh_thread *t, const uintptr_t *call_slot)
{
    (void)t, (void)call_slot;
    dh_atom_synchronised(DH_ATOM_SYNC_OTHER);
}

void dh_atomrace_thread_exit(void)
{
    dh_atom_thread_ends();
}

void dh_atomrace_ignore_begin(enum dh_ignored what)
{
    if (what == DH_IGNORED_ALL)
        dh_atom_ignore(1);
}

void dh_atomrace_ignore_end(enum dh_ignored what)
{
    if (what == DH_IGNORED_ALL)
        dh_atom_ignore(-1);
}
