/* The lock of a stdio stream (flockfile); where libc itself acquires it, futexes are seen. */
#include "runtime/engine/primitives/primitives.h"

#include "runtime/interpose/real.h"

#include <stdio.h>

/* glibc's. */
struct stream_lock {
    int lock;
    int count;
    void *owner;
};

static const struct stream_lock *lock_of(uint64_t stream)
{
    return ((FILE *)(uintptr_t)stream)->_lock;
}

static bool is_mine(const struct dh_task *t, uint64_t stream)
{
    return lock_of(stream)->lock && lock_of(stream)->owner == (void *)t->fs;
}

static uint32_t when_free(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    return s->flags & DH_STEP_TRY || !lock_of(s->object)->lock;
}

void dh_engine_flockfile(FILE *stream)
{
    if (!is_mine(dh_engine_self(), (uint64_t)(uintptr_t)stream))
        dh_engine_park_at(DH_STEP_LOCK, 0, stream, NULL, when_free);
    dh_real.flockfile(stream);
}

int dh_engine_ftrylockfile(FILE *stream)
{
    bool mine = is_mine(dh_engine_self(), (uint64_t)(uintptr_t)stream);
    if (!mine)
        dh_engine_park_at(DH_STEP_LOCK, DH_STEP_TRY, stream, NULL, when_free);
    int result = dh_real.ftrylockfile(stream);
    if (result && !mine)
        dh_engine_step_failed();
    return result;
}

void dh_engine_funlockfile(FILE *stream)
{
    if (lock_of((uint64_t)(uintptr_t)stream)->count == 1)
        dh_engine_park_at(DH_STEP_UNLOCK, 0, stream, NULL, NULL);
    dh_real.funlockfile(stream);
}
