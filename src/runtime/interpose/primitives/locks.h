/* What the families of locks share. Layer: runtime. */
#ifndef DH_RUNTIME_INTERPOSE_PRIMITIVES_LOCKS_H
#define DH_RUNTIME_INTERPOSE_PRIMITIVES_LOCKS_H

#include "runtime/interpose/interpose.h"

#include <errno.h>

/* After an attempt to acquire the mutex that answered `result`. */
void dh_mutex_acquired(const pthread_mutex_t *m, int result, unsigned mode, const uintptr_t *call_slot);
/* Whether unlocking it will succeed, as far as that is known. */
bool dh_mutex_may_be_released(const pthread_mutex_t *m);
/* The calling thread ends and perhaps holds locks still. */
void dh_locks_abandoned(void);

#define DH_INTERPOSE_LOCK_INIT(name, parameters, arguments)                                                            \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        dh_lock_init((const void *)lock, DH_CALL_SLOT);                                                                \
        return dh_real.name arguments;                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

/* Refused when it is held: then it lives on. */
#define DH_INTERPOSE_LOCK_DESTROY(name, type)                                                                          \
    static int dh_interposed_##name(type *lock)                                                                        \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        int result = dh_real.name(lock);                                                                               \
        if (result == 0)                                                                                               \
            dh_lock_destroyed((const void *)lock, DH_CALL_SLOT);                                                       \
        else if (result == EBUSY)                                                                                      \
            dh_lock_destroy_failed((const void *)lock, DH_CALL_SLOT);                                                  \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

#endif
