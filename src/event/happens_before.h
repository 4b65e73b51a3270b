/* The rules of happens-before over vector clocks: acquire and release of objects, fork and join, C11 atomics with
 * release sequences (as of C++20, P0982) and fences. Layer: event. Tables of threads and objects, and what counts as
 * order, are the caller's, and so is the memory of clocks. No libc: the same in the tool and in checked programs. Not
 * thread-safe. */
#ifndef DH_EVENT_HAPPENS_BEFORE_H
#define DH_EVENT_HAPPENS_BEFORE_H

#include "base/vclock.h"
#include "event/site.h"

/* A clock of base/vclock.h. All zero: it knows nothing. */
struct dh_hb_clock {
    uint32_t *at;
    uint32_t n, room;
};

/* Where clocks get their entries from. NULL in its place: every clock has all the room it can need. */
struct dh_hb_memory {
    /* Room for n entries at least, the c->n there are kept. False: no memory, `c` is as before; the edge is lost then,
     * which may report a race too many, but hides none. */
    bool (*grow)(struct dh_hb_memory *m, struct dh_hb_clock *c, uint32_t n);
};

struct dh_hb_thread {
    uint32_t slot; /* of its own entry */
    bool has_release_fence;
    struct dh_hb_clock clock;         /* what it knows; its own entry is its epoch, which every release ends */
    struct dh_hb_clock release_fence; /* what it knew at its last release fence */
    struct dh_hb_clock acquire_fence; /* what relaxed loads read, for an acquire fence to come */
};

/* What is at an address and orders threads. One clock for locks, atomics and annotations alike, as code that is not
 * ours may release by a call what the program acquires by a load (guards of static variables). */
struct dh_hb_object {
    struct dh_hb_clock clock;   /* of an atomic: of the release sequence of its present value */
    struct dh_hb_clock readers; /* of shared holders, which only an exclusive one comes after */
};

/* ---- clocks ---- */

bool dh_hb_clock_widen(struct dh_hb_memory *m, struct dh_hb_clock *c, uint32_t n);
/* to := max(to, from) */
void dh_hb_clock_join(struct dh_hb_memory *m, struct dh_hb_clock *to, const struct dh_hb_clock *from);
void dh_hb_clock_copy(struct dh_hb_memory *m, struct dh_hb_clock *to, const struct dh_hb_clock *from);

/* ---- threads ---- */

/* One that knows nothing but itself, at that epoch; the room of its clocks is kept. False: no memory. */
bool dh_hb_thread_init(struct dh_hb_memory *m, struct dh_hb_thread *t, uint32_t slot, uint32_t epoch);
/* What it does from now on is not known to those who know what it did. */
static inline void dh_hb_tick(struct dh_hb_thread *t)
{
    t->clock.at[t->slot]++;
}
static inline uint32_t dh_hb_epoch(const struct dh_hb_thread *t)
{
    return t->clock.at[t->slot];
}
void dh_hb_fork(struct dh_hb_memory *m, struct dh_hb_thread *parent, struct dh_hb_thread *child);
void dh_hb_join(struct dh_hb_memory *m, struct dh_hb_thread *t, const struct dh_hb_thread *ended);

/* ---- objects ---- */

void dh_hb_acquire(struct dh_hb_memory *m, struct dh_hb_thread *t, const struct dh_hb_clock *from);
/* The thread's clock replaces what was there. */
void dh_hb_release(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_clock *to);
/* What was there stays: a semaphore, a read lock, a barrier. */
void dh_hb_release_join(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_clock *to);
void dh_hb_acquire_release(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_clock *c);

void dh_hb_lock(struct dh_hb_memory *m, struct dh_hb_thread *t, const struct dh_hb_object *lock, bool shared);
/* By a thread that holds it. */
void dh_hb_unlock(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_object *lock, bool shared);
/* By a thread that may not hold it: what the holder releases must stay. */
void dh_hb_unlock_unowned(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_object *lock, bool shared);

/* ---- atomics: C11 5.1.2.4, 7.17.3, 7.17.4. DH_ORDER_NONE: a plain access, which neither acquires nor releases ---- */

/* `message` is the clock of the release sequence that the value belongs to. */
void dh_hb_load(struct dh_hb_memory *m, struct dh_hb_thread *t, const struct dh_hb_clock *message, enum dh_order order);
/* Begins a release sequence; true: something was released to it. */
bool dh_hb_store(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_clock *message, enum dh_order order);
/* The store of a read-modify-write, after dh_hb_load: goes on with the sequence of what it read. */
bool dh_hb_update(struct dh_hb_memory *m, struct dh_hb_thread *t, struct dh_hb_clock *message, enum dh_order order);
void dh_hb_fence(struct dh_hb_memory *m, struct dh_hb_thread *t, enum dh_order order);

#endif
