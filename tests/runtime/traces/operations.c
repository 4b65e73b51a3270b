/* The operations of traces, one function each, so that a place belongs to one operation. Built by deadheat. What they
 * access is known to the oracle by their names. */
#include "operations.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OPERATION(name) __attribute__((noinline)) static uint64_t name(char *at, char *other, uint64_t value)
#define UNUSED (void)at, (void)other, (void)value

char global_arena[4096] __attribute__((aligned(64)));

/* ---- plain accesses ---- */

typedef uint8_t t1;
typedef uint16_t t2;
typedef uint32_t t4;
typedef uint64_t t8;
typedef uint64_t t16 __attribute__((vector_size(16)));
typedef uint16_t u2 __attribute__((aligned(1)));
typedef uint32_t u4 __attribute__((aligned(1)));
typedef uint64_t u8 __attribute__((aligned(1)));
typedef uint64_t u16 __attribute__((vector_size(16), aligned(1)));
typedef uint64_t u32 __attribute__((vector_size(32), aligned(1)));

#define FIRST(x) ((uint64_t)(x))
#define SUM2(x) ((x)[0] ^ (x)[1])
#define SUM4(x) (SUM2(x) ^ (x)[2] ^ (x)[3])

#define PLAIN(name, type, sum, ...)                                                                                    \
    OPERATION(read##name)                                                                                              \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        type x = *(type *)at;                                                                                          \
        return sum(x);                                                                                                 \
    }                                                                                                                  \
    OPERATION(write##name)                                                                                             \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        *(type *)at = (type)__VA_ARGS__;                                                                               \
        return 0;                                                                                                      \
    }
PLAIN(1, t1, FIRST, value)
PLAIN(2, t2, FIRST, value)
PLAIN(4, t4, FIRST, value)
PLAIN(8, t8, FIRST, value)
PLAIN(16, t16, SUM2, {value, value})
PLAIN(2_unaligned, u2, FIRST, value)
PLAIN(4_unaligned, u4, FIRST, value)
PLAIN(8_unaligned, u8, FIRST, value)
PLAIN(16_unaligned, u16, SUM2, {value, value})
PLAIN(32_unaligned, u32, SUM4, {value, value, value, value})
PLAIN(10, long double, (uint64_t)!!, value)

OPERATION(add4)
{
    UNUSED;
    *(t4 *)at += (t4)value;
    return 0;
}
OPERATION(add8)
{
    UNUSED;
    *(t8 *)at += value;
    return 0;
}
OPERATION(increment1)
{
    UNUSED;
    return ++*(t1 *)at;
}

/* ---- several bytes ---- */

#define STRUCTURE(size)                                                                                                \
    struct s##size {                                                                                                   \
        t4 field[size / 4];                                                                                            \
    };                                                                                                                 \
    OPERATION(assign##size)                                                                                            \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        *(struct s##size *)at = *(struct s##size *)other;                                                              \
        return 0;                                                                                                      \
    }
STRUCTURE(12)
STRUCTURE(24)

OPERATION(copy)
{
    UNUSED;
    memcpy(at, other, value);
    return 0;
}
OPERATION(move)
{
    UNUSED;
    memmove(at, other, value);
    return 0;
}
OPERATION(set)
{
    UNUSED;
    memset(at, 7, value);
    return 0;
}
OPERATION(compare)
{
    UNUSED;
    return (uint64_t)memcmp(at, other, value);
}
#define FIXED(n)                                                                                                       \
    OPERATION(copy##n)                                                                                                 \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        memcpy(at, other, n);                                                                                          \
        return 0;                                                                                                      \
    }                                                                                                                  \
    OPERATION(set##n)                                                                                                  \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        memset(at, 9, n);                                                                                              \
        return 0;                                                                                                      \
    }
FIXED(3)
FIXED(7)
FIXED(20)

/* As the library has them: the compiler does not know what is called. */
static void *(*volatile library_copy)(void *, const void *, size_t) = memcpy;
static void *(*volatile library_set)(void *, int, size_t) = memset;
OPERATION(copy_called)
{
    UNUSED;
    library_copy(at, other, value);
    return 0;
}
OPERATION(set_called)
{
    UNUSED;
    library_set(at, 5, value);
    return 0;
}

/* ---- atomics ---- */

typedef unsigned __int128 t128;
#define LOAD(n, type, order, name)                                                                                     \
    OPERATION(load##n##_##name)                                                                                        \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return (uint64_t)__atomic_load_n((type *)at, order);                                                           \
    }
#define STORE(n, type, order, name)                                                                                    \
    OPERATION(store##n##_##name)                                                                                       \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        __atomic_store_n((type *)at, (type)value, order);                                                              \
        return 0;                                                                                                      \
    }
/* `value` is what is there: the interpreter looked. */
#define MODIFY(n, type, order, name)                                                                                   \
    OPERATION(fetch_add##n##_##name)                                                                                   \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return (uint64_t)__atomic_fetch_add((type *)at, (type)1, order);                                               \
    }                                                                                                                  \
    OPERATION(exchange##n##_##name)                                                                                    \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        return (uint64_t)__atomic_exchange_n((type *)at, (type)value, order);                                          \
    }                                                                                                                  \
    OPERATION(swap##n##_##name)                                                                                        \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        type expected;                                                                                                 \
        __builtin_memcpy_inline(&expected, other, n);                                                                  \
        if (!__atomic_compare_exchange_n((type *)at, &expected, (type)value, 0, order, __ATOMIC_RELAXED))              \
            abort();                                                                                                   \
        return 0;                                                                                                      \
    }
#define FAIL(n, type, order, name)                                                                                     \
    OPERATION(swap_fails##n##_##name)                                                                                  \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        type expected;                                                                                                 \
        __builtin_memcpy_inline(&expected, other, n);                                                                  \
        expected++;                                                                                                    \
        if (__atomic_compare_exchange_n((type *)at, &expected, (type)value, 0, __ATOMIC_ACQ_REL, order))               \
            abort();                                                                                                   \
        return 0;                                                                                                      \
    }
#define OF_LOADS(DO, n, type)                                                                                          \
    DO(n, type, __ATOMIC_RELAXED, relaxed)                                                                             \
    DO(n, type, __ATOMIC_ACQUIRE, acquire)                                                                             \
    DO(n, type, __ATOMIC_SEQ_CST, seq_cst)
#define OF_STORES(DO, n, type)                                                                                         \
    DO(n, type, __ATOMIC_RELAXED, relaxed)                                                                             \
    DO(n, type, __ATOMIC_RELEASE, release)                                                                             \
    DO(n, type, __ATOMIC_SEQ_CST, seq_cst)
#define OF_BOTH(DO, n, type)                                                                                           \
    DO(n, type, __ATOMIC_RELAXED, relaxed)                                                                             \
    DO(n, type, __ATOMIC_ACQUIRE, acquire)                                                                             \
    DO(n, type, __ATOMIC_RELEASE, release)                                                                             \
    DO(n, type, __ATOMIC_ACQ_REL, acq_rel)                                                                             \
    DO(n, type, __ATOMIC_SEQ_CST, seq_cst)
#define ATOMIC(n, type)                                                                                                \
    OF_LOADS(LOAD, n, type)                                                                                            \
    OF_STORES(STORE, n, type)                                                                                          \
    OF_BOTH(MODIFY, n, type)                                                                                           \
    OF_LOADS(FAIL, n, type)
ATOMIC(1, t1)
ATOMIC(2, t2)
ATOMIC(4, t4)
ATOMIC(8, t8)
ATOMIC(16, t128)

#define FENCE(order, name)                                                                                             \
    OPERATION(fence_##name)                                                                                            \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        __atomic_thread_fence(order);                                                                                  \
        return 0;                                                                                                      \
    }
FENCE(__ATOMIC_ACQUIRE, acquire)
FENCE(__ATOMIC_RELEASE, release)
FENCE(__ATOMIC_ACQ_REL, acq_rel)
FENCE(__ATOMIC_SEQ_CST, seq_cst)

/* ---- what the library orders ---- */

static void must(int result)
{
    if (result)
        abort();
}

#define CALL(name, expression)                                                                                         \
    OPERATION(name)                                                                                                    \
    {                                                                                                                  \
        UNUSED;                                                                                                        \
        must(expression);                                                                                              \
        return 0;                                                                                                      \
    }
#define MUTEX (pthread_mutex_t *)at
#define RWLOCK (pthread_rwlock_t *)at
#define SPIN (pthread_spinlock_t *)at
#define SEMAPHORE (sem_t *)at
static const struct timespec never = {.tv_sec = INT32_MAX};
CALL(lock, pthread_mutex_lock(MUTEX))
CALL(lock_timed, pthread_mutex_timedlock(MUTEX, &never))
CALL(lock_tried, pthread_mutex_trylock(MUTEX))
CALL(lock_busy, pthread_mutex_trylock(MUTEX) != EBUSY)
CALL(unlock, pthread_mutex_unlock(MUTEX))
CALL(read_lock, pthread_rwlock_rdlock(RWLOCK))
CALL(read_lock_busy, pthread_rwlock_tryrdlock(RWLOCK) != EBUSY)
CALL(write_lock, pthread_rwlock_wrlock(RWLOCK))
CALL(write_lock_busy, pthread_rwlock_trywrlock(RWLOCK) != EBUSY)
CALL(rwlock_unlock, pthread_rwlock_unlock(RWLOCK))
CALL(spin_lock, pthread_spin_lock(SPIN))
CALL(spin_unlock, pthread_spin_unlock(SPIN))
CALL(post, sem_post(SEMAPHORE))
CALL(wait, sem_wait(SEMAPHORE))
CALL(wait_tried, sem_trywait(SEMAPHORE))
CALL(wait_fails, sem_trywait(SEMAPHORE) == 0)
CALL(create, pthread_create((pthread_t *)at, NULL, interpret_thread, other))
CALL(join, pthread_join(*(pthread_t *)other, NULL))

static void nothing(void)
{
}
CALL(once, pthread_once((pthread_once_t *)at, nothing))

/* In groups: the turn goes on before the thread waits. */
OPERATION(barrier)
{
    UNUSED;
    pass_turn();
    int result = pthread_barrier_wait((pthread_barrier_t *)at);
    must(result != 0 && result != PTHREAD_BARRIER_SERIAL_THREAD);
    return 0;
}
OPERATION(cond_wait)
{
    UNUSED;
    must(pthread_mutex_lock(MUTEX));
    pass_turn();
    while (!is_signalled())
        must(pthread_cond_wait((pthread_cond_t *)other, MUTEX));
    must(pthread_mutex_unlock(MUTEX));
    return 0;
}
OPERATION(cond_signal)
{
    UNUSED;
    must(pthread_mutex_lock(MUTEX));
    say_signalled();
    must(value & 1 ? pthread_cond_signal((pthread_cond_t *)other) : pthread_cond_broadcast((pthread_cond_t *)other));
    must(pthread_mutex_unlock(MUTEX));
    return 0;
}

/* ---- objects that come and go ---- */

OPERATION(new)
{
    UNUSED;
    keep_block(malloc(value));
    return 0;
}
OPERATION(new_zeroed)
{
    UNUSED;
    keep_block(calloc(1, value));
    return 0;
}
OPERATION(delete)
{
    UNUSED;
    free(at);
    return 0;
}
OPERATION(resize)
{
    UNUSED;
    keep_block(realloc(at, value));
    return 0;
}

#define ROW(name) {#name, name},
#define ROWS_PLAIN(name) ROW(read##name) ROW(write##name)
#define ROWS_LOAD(n, type, order, name) ROW(load##n##_##name) ROW(swap_fails##n##_##name)
#define ROWS_STORE(n, type, order, name) ROW(store##n##_##name)
#define ROWS_MODIFY(n, type, order, name) ROW(fetch_add##n##_##name) ROW(exchange##n##_##name) ROW(swap##n##_##name)
#define ROWS_ATOMIC(n) OF_LOADS(ROWS_LOAD, n, ) OF_STORES(ROWS_STORE, n, ) OF_BOTH(ROWS_MODIFY, n, )
/* clang-format off */
const struct operation operations[] = {
    ROWS_PLAIN(1) ROWS_PLAIN(2) ROWS_PLAIN(4) ROWS_PLAIN(8) ROWS_PLAIN(16) ROWS_PLAIN(10)
    ROWS_PLAIN(2_unaligned) ROWS_PLAIN(4_unaligned) ROWS_PLAIN(8_unaligned) ROWS_PLAIN(16_unaligned)
    ROWS_PLAIN(32_unaligned)
    ROW(add4) ROW(add8) ROW(increment1) ROW(assign12) ROW(assign24)
    ROW(copy) ROW(move) ROW(set) ROW(compare) ROW(copy_called) ROW(set_called)
    ROW(copy3) ROW(copy7) ROW(copy20) ROW(set3) ROW(set7) ROW(set20)
    ROWS_ATOMIC(1) ROWS_ATOMIC(2) ROWS_ATOMIC(4) ROWS_ATOMIC(8) ROWS_ATOMIC(16)
    ROW(fence_acquire) ROW(fence_release) ROW(fence_acq_rel) ROW(fence_seq_cst)
    ROW(lock) ROW(lock_timed) ROW(lock_tried) ROW(lock_busy) ROW(unlock)
    ROW(read_lock) ROW(read_lock_busy) ROW(write_lock) ROW(write_lock_busy) ROW(rwlock_unlock)
    ROW(spin_lock) ROW(spin_unlock) ROW(post) ROW(wait) ROW(wait_tried) ROW(wait_fails)
    ROW(create) ROW(join) ROW(once) ROW(barrier) ROW(cond_wait) ROW(cond_signal)
    ROW(new) ROW(new_zeroed) ROW(delete) ROW(resize)
};
/* clang-format on */
const unsigned n_operations = sizeof operations / sizeof *operations;
