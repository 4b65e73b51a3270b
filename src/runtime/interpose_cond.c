/* Condition variables: a wait gives the mutex and takes it again, also when the time is up or the thread is cancelled.
 * A signal orders nothing: only the mutex does. */
#include "runtime/interpose_locks.h"

#include <errno.h>

struct given {
    const pthread_mutex_t *mutex;
    const uintptr_t *call_slot;
    bool told; /* it was ours to give */
};

static void take_again(void *memory)
{
    const struct given *g = memory;
    if (g->told)
        dh_mutex_taken(g->mutex, 0, g->call_slot);
}

static struct given give(const void *mutex, const uintptr_t *call_slot)
{
    struct given g = {mutex, call_slot, dh_mutex_may_be_given(mutex)};
    if (g.told)
        dh_lock_given(mutex);
    return g;
}

#define WAITS(name, parameters, arguments)                                                                             \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        struct dh_wait w;                                                                                              \
        dh_interpose_ready();                                                                                          \
        struct given g = give(mutex, DH_CALL_SLOT);                                                                    \
        dh_wait_begin(&w, take_again, &g);                                                                             \
        int result = dh_real.name arguments;                                                                           \
        dh_wait_end(&w);                                                                                               \
        /* Whatever the answer, the mutex is held again, unless nobody can have it any more. */                        \
        if (g.told && result != ENOTRECOVERABLE)                                                                       \
            dh_mutex_taken(g.mutex, result == EOWNERDEAD ? EOWNERDEAD : 0, g.call_slot);                               \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

WAITS(pthread_cond_wait, (pthread_cond_t * cond, pthread_mutex_t *mutex), (cond, mutex))
WAITS(pthread_cond_timedwait, (pthread_cond_t * cond, pthread_mutex_t *mutex, const struct timespec *until),
      (cond, mutex, until))
WAITS(pthread_cond_clockwait,
      (pthread_cond_t * cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
      (cond, mutex, clock, until))
WAITS(cnd_wait, (cnd_t * cond, mtx_t *mutex), (cond, mutex))
WAITS(cnd_timedwait, (cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until),
      (cond, mutex, until))
