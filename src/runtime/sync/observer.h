/* What an observer of synchronisation events implements: for each event E that it lists in sync/observers.def a
 * function dh_NAME_E, declared here. Layer: runtime. Called in the thread the event happens in, while the observer is
 * on; keeps errno. Between atomic_enter and atomic_leave nothing but the operation itself may happen. */
#ifndef DH_RUNTIME_SYNC_OBSERVER_H
#define DH_RUNTIME_SYNC_OBSERVER_H

#include "runtime/sync/observers.def"
#include "runtime/sync/sync.h"

#define DH_DECLARE_CALLBACK(observer, on, events, event, parameters) void dh_##observer##_##event parameters;
#define EVENT(event, parameters, arguments)                                                                            \
    DH_SYNC_OBSERVERS(DH_DECLARE_CALLBACK, event, parameters)                                                          \
    DH_SYNC_RACE_DETECTOR(DH_DECLARE_CALLBACK, event, parameters)
#include "runtime/sync/events.def"
#undef EVENT

/* What the recorder and the race detector answer for the calling thread: the depth to which it holds the lock, with
 * *unlisted if it holds more locks than are listed; and dh_atomic_known. */
unsigned dh_record_lock_held(const void *lock, bool *unlisted);
unsigned dh_race_lock_held(const void *lock, bool *unlisted);
const _Atomic uint64_t *dh_record_atomic_known(const void *addr, uint32_t what, uint64_t *version);
const _Atomic uint64_t *dh_race_atomic_known(const void *addr, uint32_t what, uint64_t *version);

/* The object through which the end of a thread is ordered before its join: no address of the program's. */
static inline const void *dh_thread_end_object(uint32_t index)
{
    return (const void *)((uintptr_t)1 << 63 | (uintptr_t)index * 64);
}

#endif
