/* Tell deadheat what you mean, and it checks that your program keeps to it.
 *
 * Built with `deadheat cc` or `deadheat c++` (they define __DEADHEAT__) these honour and check what they say; with any
 * other compiler they are nothing. Every promise that a run breaks is reported as a finding of its own.
 *
 *   pthread_mutex_t lock;
 *   int balance DEADHEAT_GUARDED_BY(lock);           field or global: accessed only by who holds `lock`
 *   DEADHEAT_ASSERT_HELD(&a->lock);                  here this thread holds it
 *   DEADHEAT_INTENDED_RACE(&hits, sizeof hits, "statistics, may lose counts");
 *   DEADHEAT_TRANSFER(job, sizeof *job);             mine no longer: nobody may touch it ...
 *   DEADHEAT_ACCEPT(job, sizeof *job);               ... until its new owner says so; orders both
 *   DEADHEAT_ATOMIC_SET(account)                     fields of one name belong together (recorded)
 *   DEADHEAT_ACQUIRING(&l); ...; DEADHEAT_ACQUIRED(&l);      a lock of your own making: what is between is not looked
 * at DEADHEAT_RELEASING(&l); ...; DEADHEAT_RELEASED(&l);
 *
 * Layer: public. C99 and later, C++98 and later. */
#ifndef DEADHEAT_ANNOTATE_H
#define DEADHEAT_ANNOTATE_H

#ifdef __DEADHEAT__

#include <deadheat/annotate_abi.h>

#define DEADHEAT_GUARDED_BY(lock) __attribute__((annotate("deadheat.guarded_by:" #lock)))
#define DEADHEAT_ATOMIC_SET(name) __attribute__((annotate("deadheat.atomic_set:" #name)))
#define DEADHEAT_NO_CHECK __attribute__((annotate("deadheat.no_sanitize", "thread")))

#define DEADHEAT_ASSERT_HELD(lock) __deadheat_assert_held(lock)
#define DEADHEAT_INTENDED_RACE(at, size, reason) __deadheat_intended_race((at), (size), (reason))
#define DEADHEAT_TRANSFER(at, size) __deadheat_transfer((at), (size))
#define DEADHEAT_ACCEPT(at, size) __deadheat_accept((at), (size))

#define DEADHEAT_ACQUIRING(lock) ((void)(lock), __deadheat_ignore_begin())
#define DEADHEAT_ACQUIRED(lock) __deadheat_lock_taken((lock), 0)
#define DEADHEAT_ACQUIRED_SHARED(lock) __deadheat_lock_taken((lock), 1)
#define DEADHEAT_NOT_ACQUIRED(lock) ((void)(lock), __deadheat_ignore_end())
#define DEADHEAT_RELEASING(lock) __deadheat_lock_giving(lock)
#define DEADHEAT_RELEASED(lock) ((void)(lock), __deadheat_ignore_end())

#else

#define DEADHEAT_GUARDED_BY(lock)
#define DEADHEAT_ATOMIC_SET(name)
#define DEADHEAT_NO_CHECK

#define DEADHEAT_ASSERT_HELD(lock) ((void)0)
#define DEADHEAT_INTENDED_RACE(at, size, reason) ((void)0)
#define DEADHEAT_TRANSFER(at, size) ((void)0)
#define DEADHEAT_ACCEPT(at, size) ((void)0)

#define DEADHEAT_ACQUIRING(lock) ((void)0)
#define DEADHEAT_ACQUIRED(lock) ((void)0)
#define DEADHEAT_ACQUIRED_SHARED(lock) ((void)0)
#define DEADHEAT_NOT_ACQUIRED(lock) ((void)0)
#define DEADHEAT_RELEASING(lock) ((void)0)
#define DEADHEAT_RELEASED(lock) ((void)0)

#endif

#endif
