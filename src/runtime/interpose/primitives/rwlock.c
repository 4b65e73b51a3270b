/* Read-write locks and spin locks. A lock that is free is acquired without the marks of a wait, by trying first. */
#include "runtime/interpose/primitives/locks.h"

#include <errno.h>

/* Other processes may release it, or the thread spins and is not asleep. */
static unsigned unwatched(const pthread_rwlock_t *lock, size_t size)
{
    return size != sizeof *lock || lock->__data.__shared ? DH_LOCK_UNWATCHED : 0;
}

#define ACQUIRES(name, mode, parameters, arguments, attempt, busy)                                                     \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        DH_BY_ENGINE(name, arguments);                                                                                 \
        dh_lock_request();                                                                                             \
        int result = attempt;                                                                                          \
        if (result == busy) {                                                                                          \
            dh_lock_wait((const void *)lock, mode | unwatched((const void *)lock, sizeof *lock), DH_CALL_SLOT);        \
            result = DH_WAIT(dh_real.name arguments);                                                                  \
        }                                                                                                              \
        if (result == 0)                                                                                               \
            dh_lock_acquired((const void *)lock, mode, DH_CALL_SLOT);                                                  \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);
#define TRY_READ dh_real.pthread_rwlock_tryrdlock(lock)
#define TRY_WRITE dh_real.pthread_rwlock_trywrlock(lock)
#define TRY_SPIN dh_real.pthread_spin_trylock(lock)
#define UNTIL const struct timespec *until

ACQUIRES(pthread_rwlock_rdlock, DH_LOCK_SHARED, (pthread_rwlock_t * lock), (lock), TRY_READ, EBUSY)
ACQUIRES(pthread_rwlock_tryrdlock, DH_LOCK_SHARED | DH_LOCK_TRY, (pthread_rwlock_t * lock), (lock), TRY_READ, -1)
ACQUIRES(pthread_rwlock_wrlock, DH_LOCK_EXCLUSIVE, (pthread_rwlock_t * lock), (lock), TRY_WRITE, EBUSY)
ACQUIRES(pthread_rwlock_trywrlock, DH_LOCK_TRY, (pthread_rwlock_t * lock), (lock), TRY_WRITE, -1)
/* A time or clock that is not valid is an error even when the lock is free: these do not try. */
ACQUIRES(pthread_rwlock_timedrdlock, DH_LOCK_SHARED | DH_LOCK_TIMED, (pthread_rwlock_t * lock, UNTIL), (lock, until),
         EBUSY, EBUSY)
ACQUIRES(pthread_rwlock_timedwrlock, DH_LOCK_TIMED, (pthread_rwlock_t * lock, UNTIL), (lock, until), EBUSY, EBUSY)
ACQUIRES(pthread_rwlock_clockrdlock, DH_LOCK_SHARED | DH_LOCK_TIMED, (pthread_rwlock_t * lock, clockid_t clock, UNTIL),
         (lock, clock, until), EBUSY, EBUSY)
ACQUIRES(pthread_rwlock_clockwrlock, DH_LOCK_TIMED, (pthread_rwlock_t * lock, clockid_t clock, UNTIL),
         (lock, clock, until), EBUSY, EBUSY)
ACQUIRES(pthread_spin_lock, DH_LOCK_EXCLUSIVE, (pthread_spinlock_t * lock), (lock), TRY_SPIN, EBUSY)
ACQUIRES(pthread_spin_trylock, DH_LOCK_TRY, (pthread_spinlock_t * lock), (lock), TRY_SPIN, -1)

#define RELEASES(name, type)                                                                                           \
    static int dh_interposed_##name(type *lock)                                                                        \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        DH_BY_ENGINE(name, (lock));                                                                                    \
        dh_lock_released((const void *)lock, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);                                         \
        return dh_real.name(lock);                                                                                     \
    }                                                                                                                  \
    DH_INTERPOSE(name);

RELEASES(pthread_rwlock_unlock, pthread_rwlock_t)
RELEASES(pthread_spin_unlock, pthread_spinlock_t)

DH_INTERPOSE_LOCK_INIT(pthread_rwlock_init, (pthread_rwlock_t * lock, const pthread_rwlockattr_t *attr), (lock, attr))
DH_INTERPOSE_LOCK_INIT(pthread_spin_init, (pthread_spinlock_t * lock, int shared), (lock, shared))
DH_INTERPOSE_LOCK_DESTROY(pthread_rwlock_destroy, pthread_rwlock_t)
DH_INTERPOSE_LOCK_DESTROY(pthread_spin_destroy, pthread_spinlock_t)
