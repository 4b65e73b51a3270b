/* Condition variables: a wait releases the mutex and acquires it again, also when the time is up or the thread is
 * cancelled. A signal orders nothing: only the mutex does. */
#include "runtime/interpose/primitives/locks.h"

#include <errno.h>

/* Of glibc's __wrefs: other processes use it. */
#define WREFS_SHARED 1

struct cond_wait {
    const void *condition;
    const pthread_mutex_t *mutex;
    const uintptr_t *call_slot;
    bool timed;
    bool reported; /* the release of the mutex, which the thread held */
};

static bool is_private(const pthread_cond_t *c)
{
    return !(c->__data.__wrefs & WREFS_SHARED);
}

/* Whatever the answer, the mutex is held again, unless no thread can acquire it any more. */
static void acquired_after(const struct cond_wait *g, int result)
{
    if (g->reported && result != ENOTRECOVERABLE)
        dh_mutex_acquired(g->mutex, result == EOWNERDEAD ? EOWNERDEAD : 0, DH_LOCK_BY_WAIT, g->call_slot);
    dh_condition_woken(g->condition, g->mutex, result == ETIMEDOUT || result == thrd_timedout, g->call_slot);
}

static void acquired_by_cancel(void *memory)
{
    acquired_after(memory, 0);
}

static struct cond_wait release_for(const void *condition, const void *mutex, bool timed, const uintptr_t *call_slot)
{
    unsigned mode = (timed ? DH_LOCK_TIMED : 0) | (is_private(condition) ? 0 : DH_LOCK_UNWATCHED);
    dh_sync_point();
    struct cond_wait g = {condition, mutex, call_slot, timed, dh_mutex_may_be_released(mutex)};
    dh_condition_wait(condition, mutex, mode, call_slot);
    if (g.reported)
        dh_lock_released(mutex, DH_LOCK_BY_WAIT, call_slot);
    return g;
}

#define WAITS(name, timed, parameters, arguments)                                                                      \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        struct dh_wait w;                                                                                              \
        dh_interpose_ready();                                                                                          \
        DH_BY_ENGINE(name, arguments);                                                                                 \
        struct cond_wait g = release_for(cond, mutex, timed, DH_CALL_SLOT);                                            \
        dh_wait_begin(&w, acquired_by_cancel, &g);                                                                     \
        int result = dh_real.name arguments;                                                                           \
        dh_wait_end(&w);                                                                                               \
        acquired_after(&g, result);                                                                                    \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

WAITS(pthread_cond_wait, false, (pthread_cond_t * cond, pthread_mutex_t *mutex), (cond, mutex))
WAITS(pthread_cond_timedwait, true, (pthread_cond_t * cond, pthread_mutex_t *mutex, const struct timespec *until),
      (cond, mutex, until))
WAITS(pthread_cond_clockwait, true,
      (pthread_cond_t * cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
      (cond, mutex, clock, until))
WAITS(cnd_wait, false, (cnd_t * cond, mtx_t *mutex), (cond, mutex))
WAITS(cnd_timedwait, true, (cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until),
      (cond, mutex, until))

/* Reported before: the thread that is woken comes after. */
#define SIGNALS(name, type, all)                                                                                       \
    static int dh_interposed_##name(type *cond)                                                                        \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        DH_BY_ENGINE(name, (cond));                                                                                    \
        dh_condition_signal(cond, all, DH_CALL_SLOT);                                                                  \
        return dh_real.name(cond);                                                                                     \
    }                                                                                                                  \
    DH_INTERPOSE(name);

SIGNALS(pthread_cond_signal, pthread_cond_t, false)
SIGNALS(pthread_cond_broadcast, pthread_cond_t, true)
SIGNALS(cnd_signal, cnd_t, false)
SIGNALS(cnd_broadcast, cnd_t, true)
