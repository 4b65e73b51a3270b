/* Semaphores, named ones too: within a process sem_open answers the same address for the same name. A post comes
 * before every wait that ends later. Waits are points of cancellation even when there is nothing to wait for. */
#include "runtime/interpose/interpose.h"

/* Behind the value, glibc keeps whether other processes use it. */
static bool is_private(const sem_t *sem)
{
    return ((const int *)sem)[2] == 0;
}

#define WAITS(name, parameters, arguments, call)                                                                       \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        DH_BY_ENGINE(name, arguments);                                                                                 \
        int result = call;                                                                                             \
        if (result == 0)                                                                                               \
            dh_sync_acquire(sem, DH_SYNC_SEMAPHORE);                                                                   \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);
#define UNTIL const struct timespec *restrict until

WAITS(sem_trywait, (sem_t * sem), (sem), dh_real.sem_trywait(sem))
WAITS(sem_wait, (sem_t * sem), (sem),
      DH_WAIT_FOR(sem, DH_SYNC_SEMAPHORE, 0, is_private(sem) ? (uintptr_t)sem : 0, DH_CALL_SLOT, dh_real.sem_wait(sem)))
WAITS(sem_timedwait, (sem_t *restrict sem, UNTIL), (sem, until),
      DH_WAIT_FOR(sem, DH_SYNC_SEMAPHORE, DH_EVENT_TIMED, 0, DH_CALL_SLOT, dh_real.sem_timedwait(sem, until)))
WAITS(sem_clockwait, (sem_t *restrict sem, clockid_t clock, UNTIL), (sem, clock, until),
      DH_WAIT_FOR(sem, DH_SYNC_SEMAPHORE, DH_EVENT_TIMED, 0, DH_CALL_SLOT, dh_real.sem_clockwait(sem, clock, until)))

static int dh_interposed_sem_post(sem_t *sem)
{
    dh_interpose_ready();
    DH_BY_ENGINE(sem_post, (sem));
    dh_sync_release_join(sem, DH_SYNC_SEMAPHORE);
    return dh_real.sem_post(sem);
}
DH_INTERPOSE(sem_post);

static int dh_interposed_sem_getvalue(sem_t *restrict sem, int *restrict out)
{
    dh_interpose_ready();
    if (dh_engine_on)
        dh_engine_sem_before_getvalue(sem);
    return dh_real.sem_getvalue(sem, out);
}
DH_INTERPOSE(sem_getvalue);

static int dh_interposed_sem_init(sem_t *sem, int shared, unsigned value)
{
    dh_interpose_ready();
    dh_sync_forget(sem, DH_SYNC_SEMAPHORE);
    return dh_real.sem_init(sem, shared, value);
}
DH_INTERPOSE(sem_init);

static int dh_interposed_sem_destroy(sem_t *sem)
{
    dh_interpose_ready();
    int result = dh_real.sem_destroy(sem);
    if (result == 0)
        dh_sync_forget(sem, DH_SYNC_SEMAPHORE);
    return result;
}
DH_INTERPOSE(sem_destroy);
