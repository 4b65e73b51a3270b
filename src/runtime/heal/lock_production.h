/* The healing lock of production builds, included by heal.h.
 * It is biased to the thread that acquires it first, which then needs no atomic instruction: it sets `inside`
 * and checks `shared`. The first other thread acquires the word, sets `shared`, makes all threads pass a barrier
 * (membarrier) and waits until the owner is out; from then on the lock is unbiased, a futex word. */
#ifndef DH_RUNTIME_HEAL_LOCK_PRODUCTION_H
#define DH_RUNTIME_HEAL_LOCK_PRODUCTION_H

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

#endif
