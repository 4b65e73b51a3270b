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

struct dh_heal_lock {
#ifdef DH_HEAL_PRODUCTION
    _Atomic uint32_t word;       /* 0 free, 1 held, 2 held with waiters */
    _Atomic bool shared;         /* the bias is being revoked */
    _Atomic bool inside;         /* the owner holds it by its bias */
    _Atomic uintptr_t biased_to; /* thread pointer of the owner, 0: never acquired; written under the word */
#else
    pthread_mutex_t mutex;
#endif
};

#ifdef DH_HEAL_PRODUCTION /* no detectors, as fast as possible */
#include "runtime/heal/lock_production.h"
#else /* a mutex, seen by detectors and the engine as the program's are */
#include "runtime/heal/lock_checked.h"
#endif

#endif
