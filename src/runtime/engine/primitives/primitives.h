/* Synchronisation primitives as the engine models them, instead of libc's. Layer: runtime. Their state lies in the
 * program's own objects in libc's layout: what was locked before the snapshot still is, and restore brings it back.
 * Wait queues are in the tasks. Interposed functions call these while the engine is on. */
#ifndef DH_RUNTIME_ENGINE_PRIMITIVES_PRIMITIVES_H
#define DH_RUNTIME_ENGINE_PRIMITIVES_PRIMITIVES_H

#include "runtime/engine/engine.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* First statement of an interposed function. */
#define DH_BY_ENGINE(name, arguments)                                                                                  \
    if (__builtin_expect(dh_engine_on, 0))                                                                             \
    return dh_engine_##name arguments

/* ---- mutex.c ---- */
int dh_engine_pthread_mutex_lock(pthread_mutex_t *m);
int dh_engine_pthread_mutex_trylock(pthread_mutex_t *m);
int dh_engine_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until);
int dh_engine_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *until);
int dh_engine_pthread_mutex_unlock(pthread_mutex_t *m);
int dh_engine_mtx_lock(mtx_t *m);
int dh_engine_mtx_trylock(mtx_t *m);
int dh_engine_mtx_timedlock(mtx_t *m, const struct timespec *until);
int dh_engine_mtx_unlock(mtx_t *m);
/* For condition waits: no visible steps. */
bool dh_engine_mutex_is_free(const pthread_mutex_t *m);
int dh_engine_mutex_acquire(pthread_mutex_t *m);
int dh_engine_mutex_check_release(const pthread_mutex_t *m); /* 0 or errno */
int dh_engine_mutex_release(pthread_mutex_t *m);
/* A task ended: robust mutexes that it holds become OWNER_DIED. */
void dh_engine_mutex_owner_died(struct dh_task *t);

/* ---- wait_queue.c: tasks that sleep at a condition, barrier or futex ---- */
/* Sleeps at `object` until it is woken and `mutex`, if any, is free; returns the alternative: 1 is a timeout or a
 * spurious wakeup. */
uint32_t dh_wait_queue_sleep(const void *object, const pthread_mutex_t *mutex, unsigned flags);
/* The same with a mutex of another library. */
uint32_t dh_wait_queue_sleep_for(const void *object, const void *mutex, unsigned flags,
                                 bool (*is_free)(const void *mutex));
/* How many tasks sleep there. */
unsigned dh_wait_queue_length(const void *object);
void dh_wait_queue_wake(const void *object, unsigned which);
void dh_wait_queue_wake_all(const void *object);
/* One alternative for each task that could be woken. */
dh_engine_alternatives dh_wait_queue_wake_alternatives;

/* ---- cond.c ---- */
int dh_engine_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int dh_engine_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);
int dh_engine_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
                                     const struct timespec *until);
int dh_engine_pthread_cond_signal(pthread_cond_t *c);
int dh_engine_pthread_cond_broadcast(pthread_cond_t *c);
int dh_engine_cnd_wait(cnd_t *c, mtx_t *m);
int dh_engine_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *until);
int dh_engine_cnd_signal(cnd_t *c);
int dh_engine_cnd_broadcast(cnd_t *c);

/* ---- glib.c ---- */
void dh_engine_g_mutex_lock(void *mutex);
int dh_engine_g_mutex_trylock(void *mutex);
void dh_engine_g_mutex_unlock(void *mutex);
void dh_engine_g_cond_wait(void *cond, void *mutex);
int dh_engine_g_cond_wait_until(void *cond, void *mutex, int64_t until); /* microseconds of CLOCK_MONOTONIC */
void dh_engine_g_cond_signal(void *cond);
void dh_engine_g_cond_broadcast(void *cond);
/* Around GLib's own code: before it may wait for another thread's initialisation; before it writes that one is done. */
void dh_engine_glib_once_enters(const void *flag);
void dh_engine_glib_once_done(const void *flag, unsigned size);
/* A step at which threads meet that release to the object, and acquire; the same two without a step. */
void dh_engine_meets(const void *object);
void dh_engine_met(const void *object);
void dh_engine_leaves(const void *object);
/* Other threads meet inside the library, too, where nothing is a step. */
void dh_engine_library_meets(void);

/* ---- stdio_lock.c ---- */
void dh_engine_flockfile(FILE *stream);
int dh_engine_ftrylockfile(FILE *stream);
void dh_engine_funlockfile(FILE *stream);

/* ---- rwlock.c ---- */
int dh_engine_pthread_rwlock_rdlock(pthread_rwlock_t *l);
int dh_engine_pthread_rwlock_tryrdlock(pthread_rwlock_t *l);
int dh_engine_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *until);
int dh_engine_pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until);
int dh_engine_pthread_rwlock_wrlock(pthread_rwlock_t *l);
int dh_engine_pthread_rwlock_trywrlock(pthread_rwlock_t *l);
int dh_engine_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *until);
int dh_engine_pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until);
int dh_engine_pthread_rwlock_unlock(pthread_rwlock_t *l);
int dh_engine_pthread_spin_lock(pthread_spinlock_t *l);
int dh_engine_pthread_spin_trylock(pthread_spinlock_t *l);
int dh_engine_pthread_spin_unlock(pthread_spinlock_t *l);

/* ---- sem.c, barrier.c ---- */
int dh_engine_sem_wait(sem_t *s);
int dh_engine_sem_trywait(sem_t *s);
int dh_engine_sem_timedwait(sem_t *s, const struct timespec *until);
int dh_engine_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until);
int dh_engine_sem_post(sem_t *s);
void dh_engine_sem_before_getvalue(const sem_t *s); /* a step before the value is read */
int dh_engine_pthread_barrier_wait(pthread_barrier_t *b);

/* ---- once.c: before the real function, and after the routine has run ---- */
void dh_engine_once_begins(const int *flag);
void dh_engine_guard_begins(const int *guard);
/* Compiled code reads the guard's first byte itself, so writing it is a step. */
void dh_engine_guard_done(void *guard);
void dh_engine_once_ends(const void *flag);

/* ---- system/time/time.c ---- */
int dh_engine_nanosleep(const struct timespec *time, struct timespec *left);
int dh_engine_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left);
int dh_engine_usleep(useconds_t time);
unsigned dh_engine_sleep(unsigned time);
int dh_engine_thrd_sleep(const struct timespec *time, struct timespec *left);
int dh_engine_sched_yield(void);
void dh_engine_thrd_yield(void);
/* Random numbers before the first thread (system/early_random.c): whether they are the engine's; the next ones; the
 * descriptor of a device becomes one of them. */
bool dh_engine_draws_early(void);
void dh_engine_early_random(void *out, size_t n);
void dh_engine_opened_early(int opened, const char *path);
int dh_engine_clock_gettime(clockid_t clock, struct timespec *out);
int dh_engine_gettimeofday(struct timeval *restrict out, void *restrict zone);
time_t dh_engine_time(time_t *out);
clock_t dh_engine_clock(void);
int dh_engine_timespec_get(struct timespec *out, int base);

/* ---- processes/process.c ---- */
int dh_engine_system(const char *command);
FILE *dh_engine_popen(const char *command, const char *type);
int dh_engine_pclose(FILE *file);

/* ---- thread_exit.c ---- */
int dh_engine_pthread_cancel(pthread_t handle);
void dh_engine_pthread_testcancel(void);
int dh_engine_pthread_setcancelstate(int state, int *before);
int dh_engine_pthread_setcanceltype(int type, int *before);
__attribute__((noreturn)) void dh_engine_pthread_exit(void *value);

/* ---- thread_attributes.c ---- */
/* The main thread has the name that the kernel has of it. */
void dh_thread_attributes_begin(struct dh_task *main);
int dh_engine_pthread_setname_np(pthread_t handle, const char *name);
int dh_engine_pthread_getname_np(pthread_t handle, char *out, size_t size);
int dh_engine_pthread_getattr_np(pthread_t handle, pthread_attr_t *out);
/* prctl with PR_SET_NAME and PR_GET_NAME. */
int dh_engine_prctl_name(int option, char *name);

/* ---- system/signals/signal_calls.c, signal_deliver.c, system/time/timer_threads.c ---- */
int dh_engine_pthread_kill(pthread_t handle, int signal);
int dh_engine_pthread_sigqueue(pthread_t handle, int signal, union sigval value);
/* longjmp to a frame at this stack pointer: handlers below it are left. */
void dh_engine_jumps_to(uintptr_t sp);
/* The first one may begin the search, as the creation of a thread does. */
int dh_engine_timer_create_thread(clockid_t clock, const struct sigevent *event, timer_t *out);

/* ---- hooks.c ---- */
/* A library function reads or writes memory of the program; at the place of the call. */
void dh_engine_library_access(const void *at, size_t size, bool writes);
/* An atomic operation that compilers leave to a library, before and after it is done; `what` is that of hooks. */
void dh_engine_library_atomic(const volatile void *at, uint32_t what, uint32_t place);
void dh_engine_library_atomic_done(const volatile void *at, uint32_t what, bool wrote);
void dh_engine_fence(uint32_t order, uint32_t place);

/* ---- threads.c ---- */
int dh_engine_pthread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*routine)(void *), void *argument);
int dh_engine_thrd_create(thrd_t *handle, thrd_start_t routine, void *argument);
int dh_engine_pthread_join(pthread_t handle, void **value);
int dh_engine_thrd_join(thrd_t handle, int *value);
int dh_engine_pthread_tryjoin_np(pthread_t handle, void **value);
int dh_engine_pthread_timedjoin_np(pthread_t handle, void **value, const struct timespec *until);
int dh_engine_pthread_clockjoin_np(pthread_t handle, void **value, clockid_t clock, const struct timespec *until);
int dh_engine_pthread_detach(pthread_t handle);
int dh_engine_thrd_detach(thrd_t handle);

#endif
