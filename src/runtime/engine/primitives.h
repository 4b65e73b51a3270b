/* Primitives as the engine models them, in place of libc's. Layer: runtime. Their state lies in the program's own
 * objects, as libc keeps it there: what was locked or counted before the snapshot still is, and restore brings it all
 * back. Who waits is known to the tasks. Interposed functions go here while the engine is on. */
#ifndef DH_RUNTIME_ENGINE_PRIMITIVES_H
#define DH_RUNTIME_ENGINE_PRIMITIVES_H

#include "runtime/engine/engine.h"

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

/* In an interposed function, first of all. */
#define DH_BY_ENGINE(name, arguments)                                                                                  \
    if (__builtin_expect(dh_engine_on, 0))                                                                             \
    return dh_engine_##name arguments

dh_engine_ways dh_ways_lock, dh_ways_join;

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
/* For condition waits: no step of their own. */
bool dh_mutex_is_free(const pthread_mutex_t *m);
int dh_mutex_take_now(pthread_mutex_t *m);
int dh_mutex_give_now(pthread_mutex_t *m);
/* A task ended: what it holds of robust ones is left to others. */
void dh_mutex_task_ended(struct dh_task *t);

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
