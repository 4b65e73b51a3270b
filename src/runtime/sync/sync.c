/* Notifies the observers of synchronisation events. Where only the race detector is on, an event is a test for each
 * observer that wants it and a jump; else all of them are notified in the order of the table. */
#include "runtime/sync/observer.h"

#include "runtime/core/thread_state.h"

#pragma GCC visibility push(hidden) /* a test of a switch is one instruction */
DH_SYNC_SWITCHES;
#pragma GCC visibility pop

enum event {
#define EVENT(event, parameters, arguments) EVENT_##event,
#include "runtime/sync/events.def"
#undef EVENT
    EVENTS
};
_Static_assert((int)EVENTS <= 64, "a bit for each event");

#define E(event) ((uint64_t)1 << EVENT_##event)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define WANTS(observer, on, events, event, arguments) || ((events) & E(event) && UNLIKELY(on))
#define NOTIFY(observer, on, events, event, arguments)                                                                 \
    if ((events) & E(event) && (on))                                                                                   \
        dh_##observer##_##event arguments;

/* Both ways end in a jump, so that the common one saves no registers. */
#define EVENT(event, parameters, arguments)                                                                            \
    __attribute__((noinline, cold)) static void notify_##event parameters                                              \
    {                                                                                                                  \
        DH_SYNC_OBSERVERS(NOTIFY, event, arguments)                                                                    \
        DH_SYNC_RACE_DETECTOR(NOTIFY, event, arguments)                                                                \
    }                                                                                                                  \
    void dh_##event parameters                                                                                         \
    {                                                                                                                  \
        if (0 DH_SYNC_OBSERVERS(WANTS, event, arguments)) {                                                            \
            notify_##event arguments;                                                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        DH_SYNC_RACE_DETECTOR(NOTIFY, event, arguments)                                                                \
    }
#include "runtime/sync/events.def"
#undef EVENT

bool dh_library_access_wanted(void)
{
    return 0 DH_SYNC_RACE_DETECTOR(WANTS, library_access, ()) DH_SYNC_OBSERVERS(WANTS, library_access, ());
}

/* ---- what observers answer ---- */

bool dh_lock_may_be_held(const void *lock)
{
    bool unlisted = false;
    if (!__dh_thread.race && !__dh_thread.record)
        return true; /* no observer keeps the locks of this thread */
    return (__dh_thread.record && (dh_record_lock_held(lock, &unlisted) || unlisted)) ||
           (__dh_thread.race && (dh_race_lock_held(lock, &unlisted) || unlisted));
}

unsigned dh_lock_held(const void *lock)
{
    bool unlisted;
    return __dh_thread.race     ? dh_race_lock_held(lock, &unlisted)
           : __dh_thread.record ? dh_record_lock_held(lock, &unlisted)
                                : 0;
}

const _Atomic uint64_t *dh_atomic_known(const void *addr, uint32_t what, uint64_t *version)
{
    return __dh_thread.race     ? dh_race_atomic_known(addr, what, version)
           : __dh_thread.record ? dh_record_atomic_known(addr, what, version)
                                : NULL;
}
