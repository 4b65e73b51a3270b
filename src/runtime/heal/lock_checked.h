/* The healing lock of checked programs, included by heal.h: a mutex, which detectors and the engine see as they see the
 * program's. */
#ifndef DH_RUNTIME_HEAL_LOCK_CHECKED_H
#define DH_RUNTIME_HEAL_LOCK_CHECKED_H

bool dh_heal_under_engine(void);
/* Under the engine: no thread passes before it was opened once. */
void dh_heal_pass_turnstile(sem_t *turnstile, uint32_t place);
void dh_heal_open_turnstile(sem_t *turnstile, uint32_t place);
int dh_heal_lock_try(struct dh_heal_lock *l, uint32_t place);
int dh_heal_lock_acquire(struct dh_heal_lock *l, const struct timespec *until, uint32_t place);
void dh_heal_lock_release(struct dh_heal_lock *l, uint32_t place);

static inline bool dh_heal_lock_try_fast(struct dh_heal_lock *l, uint32_t place)
{
    return dh_heal_lock_try(l, place) == 0;
}

static inline bool dh_heal_lock_release_fast(struct dh_heal_lock *l, uint32_t place)
{
    dh_heal_lock_release(l, place);
    return false;
}

static inline void dh_heal_lock_wake(struct dh_heal_lock *l)
{
    (void)l;
}

static inline void dh_heal_lock_init(struct dh_heal_lock *l)
{
    l->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static inline bool dh_heal_lock_looks_free(struct dh_heal_lock *l)
{
    return !__atomic_load_n(&l->mutex.__data.__lock, __ATOMIC_RELAXED);
}

#endif
