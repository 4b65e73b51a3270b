/* Healing of atomicity violations and races in the running program (001 §2): interface for the runtime, services of the
 * process, and the healing lock. Layer: runtime. heal.c is linked into checked programs (with checked.c) and, with
 * little else, into production builds (with production.c). Any thread, after fork; not in signal handlers that
 * interrupt a hook. */
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
/* Groups that have a lock for each object, a bit each, as instrumented. */
extern const uint64_t __dh_heal_per_object;

/* Reads the policy; before the program's own code runs. */
void dh_heal_start(void);
void dh_heal_forked(void);
/* The calling thread's present access collided: with `run --heal=auto`, its group is healed from now on. */
void dh_heal_suspected(void);
/* Another thread is in the section that the calling thread has reached. */
extern __thread bool dh_heal_out_of_turn;
/* Then, before a read in it: waits a limited time for the other thread to leave. True: it waited, and other threads may
 * have written. */
bool dh_heal_wait_turn(void);
/* The calling thread's present read became healed after its section began: enters the section now, late. */
void dh_heal_enter_late(uint32_t place);
/* At the end of the process, if asked for: prints the counters. */
void dh_heal_print_counts(void);

/* ---- services of the process ---- */

/* Zeroed, never freed. */
void *dh_heal_allocate(size_t size);
/* Prints a line for the user. */
void dh_heal_print(const char *text);
/* How long a thread waits for a lock without progress of others. */
int dh_heal_patience_ms(void);
/* Groups are dormant until a collision in them; dh_heal_record_healed records those that became healed. */
bool dh_heal_is_auto(void);
void dh_heal_record_healed(const char *group);
/* Healing of the group was given up. */
void dh_heal_record_failure(const char *group);
void dh_heal_now(struct timespec *t); /* of the monotonic clock */
bool dh_heal_make_key(pthread_key_t *key, void (*destructor)(void *));
void dh_heal_sleep(long nanoseconds); /* 0: yields */
/* The next access of the calling thread must not take the detector's fast path. */
void dh_heal_force_slow_path(void);

/* ---- a healing lock ----
 * try: 0 or EBUSY. acquire: 0 or ETIMEDOUT; `until` NULL: no limit. Under the engine, which schedules threads, waits
 * have no limit. */

#ifdef DH_HEAL_PRODUCTION /* production: no detectors, as fast as possible */

/* A biased lock: biased to the thread that acquires it first, which then needs no atomic instruction: it sets `inside`
 * and checks `shared`. The first other thread acquires the word, sets `shared`, makes all threads pass a barrier
 * (membarrier) and waits until the owner is out; from then on the lock is unbiased, a futex word. */
struct dh_heal_lock {
    _Atomic uint32_t word;       /* 0 free, 1 held, 2 held with waiters */
    _Atomic bool shared;         /* the bias is being revoked */
    _Atomic bool inside;         /* the owner holds it by its bias */
    _Atomic uintptr_t biased_to; /* thread pointer of the owner, 0: never acquired; written under the word */
};

enum { DH_HEAL_UNBIASED = 1 /* only the word counts */ };

int dh_heal_lock_acquire(struct dh_heal_lock *l, const struct timespec *until, uint32_t place);
void dh_heal_lock_wake(struct dh_heal_lock *l);
void dh_heal_lock_init(struct dh_heal_lock *l);
#define dh_heal_pass_turnstile(turnstile, place) ((void)(turnstile), (void)(place))
#define dh_heal_open_turnstile dh_heal_pass_turnstile
/* Called with the word held, if the lock is biased: 0, or EBUSY and the word is released. */
int dh_heal_lock_revoke_bias(struct dh_heal_lock *l);

static inline bool dh_heal_under_engine(void)
{
    return false;
}

static inline bool dh_heal_lock_looks_free(struct dh_heal_lock *l)
{
    return !atomic_load_explicit(&l->word, memory_order_relaxed);
}

/* False also if it is biased to another thread. Calls nothing. */
static inline bool dh_heal_lock_try_fast(struct dh_heal_lock *l, uint32_t place)
{
    uint32_t none = 0;
    uintptr_t to = atomic_load_explicit(&l->biased_to, memory_order_relaxed);
    (void)place;
    if (to == (uintptr_t)__builtin_thread_pointer()) {
        atomic_store_explicit(&l->inside, true, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* membarrier in the revoking thread does the rest */
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
    if (atomic_load_explicit(&l->biased_to, memory_order_relaxed) == DH_HEAL_UNBIASED ||
        !atomic_compare_exchange_strong_explicit(&l->word, &none, 1, memory_order_acquire, memory_order_relaxed))
        return EBUSY;
    return dh_heal_lock_revoke_bias(l);
}

/* True: a waiter must be woken. */
static inline bool dh_heal_lock_release_fast(struct dh_heal_lock *l, uint32_t place)
{
    (void)place;
    if (atomic_load_explicit(&l->inside, memory_order_relaxed) &&
        atomic_load_explicit(&l->biased_to, memory_order_relaxed) == (uintptr_t)__builtin_thread_pointer()) {
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

#else /* checked program: a mutex, seen by detectors and the engine as the program's are */

struct dh_heal_lock {
    pthread_mutex_t mutex;
};

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

#endif
