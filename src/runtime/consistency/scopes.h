/* The consistency detector in the checked program: which unit (detect/consistency.h) the calling thread is in, and what
 * begins and ends one. Layer: runtime; constants also compiled into the inline checks. Everything does nothing in
 * threads that are not looked at. Any thread, signal handlers, after fork. */
#ifndef DH_RUNTIME_CONSISTENCY_SCOPES_H
#define DH_RUNTIME_CONSISTENCY_SCOPES_H

#include "detect/consistency.h"
#include "runtime/core/thread_state.h"

/* Where the cells are: below the tables of the race detector. */
#define DH_UNIT_CELLS_AT ((uintptr_t)0x2bf000000000)

static inline uint64_t *dh_unit_cells(void)
{
    return (uint64_t *)DH_UNIT_CELLS_AT;
}

/* Sets up the cells if the variant has checks, and the detector if it is asked for; says in one line why it cannot. */
void dh_units_start(void);
void dh_units_forked(void);
void dh_units_thread_begin(void);
void dh_units_thread_end(void);

/* What the thread does from here on may be ordered behind what others did. */
static inline void dh_units_acquired(void)
{
    if (__dh_thread.units)
        dh_scope_split(__dh_thread.units);
}

/* What others do from here on may be ordered behind what the thread did. */
static inline void dh_units_release(void)
{
    if (__dh_thread.units)
        dh_scope_close(__dh_thread.units);
}

/* Where it is asked for often: nothing is called in a thread that the detector does not look at. */
#define DH_UNITS(call)                                                                                                 \
    do {                                                                                                               \
        if (__builtin_expect(__dh_thread.units != NULL, 0))                                                            \
            call;                                                                                                      \
    } while (0)

/* Nor does an atomic variable that nobody changed since the thread acquired it. Around every operation that may change
 * one: */
void dh_units_atomic_changes(uintptr_t addr);
void dh_units_atomic_changed(uintptr_t addr);
/* Is a load that gave that value known to be such a one? `version` is what dh_units_atomic_version told before it. */
uint64_t dh_units_atomic_version(uintptr_t addr);
bool dh_units_atomic_known(uintptr_t addr, uint64_t version, uint64_t value);
/* After one that acquired. */
void dh_units_atomic_learn(uintptr_t addr, uint64_t version, uint64_t value);
extern bool dh_units_on;

/* A lock that no other thread had in between orders nothing. */
void dh_units_lock_taken(const void *lock);
void dh_units_lock_given(const void *lock);
/* The thread has memory that others may have had. */
void dh_units_memory(const void *at, size_t size);
/* An access of any size; as a library function does it for its caller. */
void dh_units_access(uintptr_t addr, size_t size, bool write, uint32_t place);

/* The same, for the inline checks. */
void __dh_unit_range(uintptr_t addr, size_t size, uint32_t write, uint32_t place);

/* What the inline checks cannot decide; what = size | write << 8. All registers stay as they were. */
void dh_unit_complete(uintptr_t addr, uint32_t what, uint32_t place);

#endif
