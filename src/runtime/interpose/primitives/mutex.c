/* Mutexes of every type, POSIX and C11, and the lock of a stdio stream. A lock that is free is acquired without the
 * marks of a wait, by trying first. */
#include "runtime/interpose/interpose.h"
#include "runtime/interpose/primitives/locks.h"
#include "runtime/platform/spin.h"

#include <errno.h>

/* Of glibc's __kind: the type in the lowest bits, then robustness and the priority protocols. */
#define KIND_TYPE 3
#define KIND_ROBUST 0x10
#define KIND_PI 0x20
#define KIND_SHARED 0x80 /* with other processes */

/* Threads that ended with locks held: what they did comes before what finds out. Only robust mutexes report them. */
static char dead_owners;
static __thread bool robust_acquired;
/* Those that this thread holds now: what it does not release itself, the kernel releases for it. */
enum { ROBUST_HELD = 8 };
static __thread const pthread_mutex_t *robust_held[ROBUST_HELD];

static void note_robust(const pthread_mutex_t *from, const pthread_mutex_t *to)
{
    for (unsigned i = 0; i < ROBUST_HELD; i++)
        if (robust_held[i] == from) {
            robust_held[i] = to;
            return;
        }
}

void dh_locks_abandoned(void)
{
    for (unsigned i = 0; i < ROBUST_HELD; i++) {
        for (unsigned depth = robust_held[i] ? dh_lock_held(robust_held[i]) : 0; depth; depth--)
            dh_lock_released(robust_held[i], DH_LOCK_EXCLUSIVE, NULL);
        robust_held[i] = NULL;
    }
    if (robust_acquired)
        dh_sync_release_join(&dead_owners, DH_SYNC_OTHER);
}

/* Mutexes that know their owner refuse anybody else. Any thread may release others, as a semaphore. */
bool dh_mutex_may_be_released(const pthread_mutex_t *m)
{
    int kind = m->__data.__kind, type = kind & KIND_TYPE;
    bool checked =
        type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK || kind & (KIND_ROBUST | KIND_PI);
    return !checked || dh_lock_may_be_held(m);
}

void dh_mutex_acquired(const pthread_mutex_t *m, int result, unsigned mode, const uintptr_t *call_slot)
{
    if (result == EOWNERDEAD)
        dh_sync_acquire(&dead_owners, DH_SYNC_OTHER);
    if (result == 0 || result == EOWNERDEAD)
        dh_lock_acquired(m, mode, call_slot);
    if (!(m->__data.__kind & KIND_ROBUST))
        return;
    robust_acquired = true;
    if ((result == 0 || result == EOWNERDEAD) && dh_lock_held(m) == 1)
        note_robust(NULL, m);
}

/* Other processes may release it. */
static unsigned unwatched(const pthread_mutex_t *m)
{
    return m->__data.__kind & KIND_SHARED ? DH_LOCK_UNWATCHED : 0;
}

/* Sections are longer than the program made them, and most end before a thread could be laid to sleep and woken:
 * a thread that comes meanwhile polls first. Only reading, which leaves the holder alone. */
static bool is_released_soon(const pthread_mutex_t *m)
{
    return DH_SPIN_UNTIL(!__atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED));
}

/* `attempt` answers `busy` when it has to be waited for. */
#define ACQUIRES(type, name, mode, parameters, arguments, attempt, busy)                                               \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        DH_BY_ENGINE(name, arguments);                                                                                 \
        dh_lock_request();                                                                                             \
        int result = attempt;                                                                                          \
        if (result == busy && is_released_soon((const pthread_mutex_t *)m))                                            \
            result = attempt;                                                                                          \
        if (result == busy) {                                                                                          \
            dh_lock_wait(m, mode | unwatched((const pthread_mutex_t *)m), DH_CALL_SLOT);                               \
            result = DH_WAIT(dh_real.name arguments);                                                                  \
        }                                                                                                              \
        dh_mutex_acquired((const pthread_mutex_t *)m, result, mode, DH_CALL_SLOT);                                     \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);
#define TRY_POSIX dh_real.pthread_mutex_trylock(m)
#define TRY_C11 dh_real.mtx_trylock(m)

ACQUIRES(pthread_mutex_t, pthread_mutex_lock, DH_LOCK_EXCLUSIVE, (pthread_mutex_t * m), (m), TRY_POSIX, EBUSY)
ACQUIRES(pthread_mutex_t, pthread_mutex_trylock, DH_LOCK_TRY, (pthread_mutex_t * m), (m), TRY_POSIX, -1)
ACQUIRES(pthread_mutex_t, pthread_mutex_timedlock, DH_LOCK_TIMED, (pthread_mutex_t * m, const struct timespec *until),
         (m, until), TRY_POSIX, EBUSY)
/* A clock that is not supported is an error even when the mutex is free. */
ACQUIRES(pthread_mutex_t, pthread_mutex_clocklock, DH_LOCK_TIMED,
         (pthread_mutex_t * m, clockid_t clock, const struct timespec *until), (m, clock, until), EBUSY, EBUSY)
/* C11's values are not errno's, but success is 0 for both and none is EOWNERDEAD. */
ACQUIRES(mtx_t, mtx_lock, DH_LOCK_EXCLUSIVE, (mtx_t * m), (m), TRY_C11, thrd_busy)
ACQUIRES(mtx_t, mtx_trylock, DH_LOCK_TRY, (mtx_t * m), (m), TRY_C11, -1)
ACQUIRES(mtx_t, mtx_timedlock, DH_LOCK_TIMED, (mtx_t *restrict m, const struct timespec *restrict until), (m, until),
         TRY_C11, thrd_busy)

#define RELEASES(name, type)                                                                                           \
    static int dh_interposed_##name(type *m)                                                                           \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        DH_BY_ENGINE(name, (m));                                                                                       \
        bool reported = dh_mutex_may_be_released((const pthread_mutex_t *)m);                                          \
        if (reported)                                                                                                  \
            dh_lock_released(m, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);                                                      \
        if (((const pthread_mutex_t *)m)->__data.__kind & KIND_ROBUST && !dh_lock_held(m))                             \
            note_robust((const pthread_mutex_t *)m, NULL);                                                             \
        int result = dh_real.name(m);                                                                                  \
        if (reported && result)                                                                                        \
            dh_lock_acquired(m, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);                                                      \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

RELEASES(pthread_mutex_unlock, pthread_mutex_t)
RELEASES(mtx_unlock, mtx_t)

DH_INTERPOSE_LOCK_INIT(pthread_mutex_init, (pthread_mutex_t * lock, const pthread_mutexattr_t *attr), (lock, attr))
DH_INTERPOSE_LOCK_INIT(mtx_init, (mtx_t * lock, int type), (lock, type))
DH_INTERPOSE_LOCK_DESTROY(pthread_mutex_destroy, pthread_mutex_t)

static void dh_interposed_mtx_destroy(mtx_t *m)
{
    dh_interpose_ready();
    dh_lock_destroyed(m, DH_CALL_SLOT);
    dh_real.mtx_destroy(m);
}
DH_INTERPOSE(mtx_destroy);

static void dh_interposed_flockfile(FILE *stream)
{
    struct dh_wait w;
    dh_interpose_ready();
    DH_BY_ENGINE(flockfile, (stream));
    if (dh_real.ftrylockfile(stream) != 0) {
        dh_lock_wait(stream, DH_LOCK_UNWATCHED, DH_CALL_SLOT);
        dh_wait_begin(&w, NULL, NULL);
        dh_real.flockfile(stream);
        dh_wait_end(&w);
    }
    dh_lock_acquired(stream, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
}
DH_INTERPOSE(flockfile);

static int dh_interposed_ftrylockfile(FILE *stream)
{
    dh_interpose_ready();
    DH_BY_ENGINE(ftrylockfile, (stream));
    int result = dh_real.ftrylockfile(stream);
    if (result == 0)
        dh_lock_acquired(stream, DH_LOCK_TRY, DH_CALL_SLOT);
    return result;
}
DH_INTERPOSE(ftrylockfile);

static void dh_interposed_funlockfile(FILE *stream)
{
    dh_interpose_ready();
    DH_BY_ENGINE(funlockfile, (stream));
    dh_lock_released(stream, DH_LOCK_EXCLUSIVE, DH_CALL_SLOT);
    dh_real.funlockfile(stream);
}
DH_INTERPOSE(funlockfile);
