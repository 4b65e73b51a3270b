/* Healing in the running program: what the rest of the runtime tells it, and what it needs of the process it is in.
 * Layer: runtime. heal.c is linked into checked programs (heal_checked.c gives it the process) and, with little else,
 * into production builds (heal_alone.c). Any thread, after fork; not in signal handlers that interrupt a hook. */
#ifndef DH_RUNTIME_HEAL_HEAL_H
#define DH_RUNTIME_HEAL_HEAL_H

#include "event/heal.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The policy that the program was built with; empty without one. */
extern const char __dh_heal_policy[];
/* Groups with a lock for each object (a bit each), as the hooks were placed. */
extern const uint64_t __dh_heal_per_object;

/* Reads it; before the program's own code runs. */
void dh_heal_start(void);
void dh_heal_forked(void);
/* Something came to an access of the calling thread, which is under way: with `run --heal=auto`, what it accesses is
 * healed from now on. */
void dh_heal_suspected(void);
/* It is somebody else's turn to be in the section that the calling thread has come to. */
extern __thread bool dh_heal_out_of_turn;
/* Then, and a read of it is under way: lets the other come out first, for a while. True: that took place, and others
 * may have written meanwhile. */
bool dh_heal_wait_turn(void);
/* A read of the calling thread is under way, and what it reads is healed since it was begun: from here on, as if that
 * had been known before. */
void dh_heal_enter_late(uint32_t place);
/* At the end of the process, if it is to say so: what was counted. */
void dh_heal_finish(void);

/* ---- of the process ---- */

/* Zeroed, for ever. */
void *dh_heal_allocate(size_t size);
/* A line for the user. */
void dh_heal_print(const char *text);
/* How long a lock may be waited for in which nothing happens. */
int dh_heal_patience_ms(void);
/* Groups are not healed before something is suspected of them; dh_heal_record_healed is told which are. */
bool dh_heal_is_auto(void);
void dh_heal_record_healed(const char *group);
/* It was given up. */
void dh_heal_record_failure(const char *group);
void dh_heal_now(struct timespec *t); /* of the monotonic clock */
bool dh_heal_make_key(pthread_key_t *key, void (*destructor)(void *));
void dh_heal_sleep(long nanoseconds); /* 0: lets others run */
/* The detector must not take the next access of the calling thread lightly. */
void dh_heal_force_slow_path(void);

/* ---- a healing lock ----
 * try: EBUSY, or 0: it is taken. take: ETIMEDOUT, or 0; without a time: for ever. directed: somebody else decides who
 * runs, and whoever waits, waits without a limit. */

#ifdef DH_HEAL_ALONE /* nobody watches: as short as a lock can be */

/* It leans to the thread that takes it first, which then needs nothing atomic: it says that it is inside and looks
 * whether others have come. The first of these takes the word, says so, makes every thread pass a barrier (membarrier)
 * and waits until the first is out; from then on the lock leans to nobody and is its word. */
struct dh_heal_lock {
    _Atomic uint32_t word;      /* 0 free, 1 taken, 2 taken and waited for */
    _Atomic bool shared;        /* others have come */
    _Atomic bool inside;        /* of the thread that it leans to */
    _Atomic uintptr_t leans_to; /* 0 when it was never taken; written by who has the word */
};

enum { DH_HEAL_UNBIASED = 1 /* it leans to nobody, and nobody is inside without the word */ };

int dh_heal_lock_acquire(struct dh_heal_lock *l, const struct timespec *until, uint32_t place);
void dh_heal_lock_wake(struct dh_heal_lock *l);
void dh_heal_lock_init(struct dh_heal_lock *l);
#define dh_heal_pass_turnstile(turnstile, place) ((void)(turnstile), (void)(place))
#define dh_heal_open_turnstile dh_heal_pass_turnstile
/* Of who has the word and sees that the lock is not settled: 0, or EBUSY and the word is given back. */
int dh_heal_lock_revoke_bias(struct dh_heal_lock *l);

static inline bool dh_heal_under_engine(void)
{
    return false;
}

static inline bool dh_heal_lock_looks_free(struct dh_heal_lock *l)
{
    return !atomic_load_explicit(&l->word, memory_order_relaxed);
}

/* False also when it is not settled. Calls nothing. */
static inline bool dh_heal_lock_try_fast(struct dh_heal_lock *l, uint32_t place)
{
    uint32_t none = 0;
    uintptr_t to = atomic_load_explicit(&l->leans_to, memory_order_relaxed);
    (void)place;
    if (to == (uintptr_t)__builtin_thread_pointer()) {
        atomic_store_explicit(&l->inside, true, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* the rest of the barrier is with who shares it */
        if (__builtin_expect(!atomic_load_explicit(&l->shared, memory_order_relaxed), 1))
            return true;
        atomic_store_explicit(&l->inside, false, memory_order_release);
        return false;
    }
    return to == DH_HEAL_UNBIASED &&
           atomic_compare_exchange_strong_explicit(&l->word, &none, 1, memory_order_acquire, memory_order_relaxed);
}

static inline int dh_heal_lock_try(struct dh_heal_lock *l, uint32_t place)
{
    uint32_t none = 0;
    if (dh_heal_lock_try_fast(l, place))
        return 0;
    if (atomic_load_explicit(&l->leans_to, memory_order_relaxed) == DH_HEAL_UNBIASED ||
        !atomic_compare_exchange_strong_explicit(&l->word, &none, 1, memory_order_acquire, memory_order_relaxed))
        return EBUSY;
    return dh_heal_lock_revoke_bias(l);
}

/* True: somebody is to be woken. */
static inline bool dh_heal_lock_release_fast(struct dh_heal_lock *l, uint32_t place)
{
    (void)place;
    if (atomic_load_explicit(&l->inside, memory_order_relaxed) &&
        atomic_load_explicit(&l->leans_to, memory_order_relaxed) == (uintptr_t)__builtin_thread_pointer()) {
        atomic_store_explicit(&l->inside, false, memory_order_release);
        return false;
    }
    return atomic_exchange_explicit(&l->word, 0, memory_order_release) == 2;
}

static inline void dh_heal_lock_release(struct dh_heal_lock *l, uint32_t place)
{
    if (dh_heal_lock_release_fast(l, place))
        dh_heal_lock_wake(l);
}

#else /* a mutex like the program's, told to detectors and the engine */

struct dh_heal_lock {
    pthread_mutex_t mutex;
};

bool dh_heal_under_engine(void);
/* While somebody else decides who runs: nobody passes before it was opened once. */
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

#endif
