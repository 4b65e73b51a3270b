/* Slots: the 127 names that epochs have for threads. Layer: runtime. A slot is given to one thread at a time and goes
 * on counting where its last thread stopped. When all are taken, that of a thread which waits, or else of any, is
 * lent to the one that needs it; orders are never invented, at worst accesses of two threads that had the same slot are
 * not told apart. When all clocks are used up, everything is forgotten and begins anew. */
#ifndef DH_RUNTIME_RACE_THREAD_SLOTS_H
#define DH_RUNTIME_RACE_THREAD_SLOTS_H

#include "runtime/race/race_state.h"

#define DH_SLOT_FREED 255 /* no thread's: epochs of freed memory */
/* `own` of a thread whose slot was lent: an epoch that no cell has. 0 would be what an empty cell says already. */
#define DH_OWN_BORROWED 0xFFE00000FFE00000u

void dh_slots_init(uint32_t clock_limit);
/* A slot for the calling thread's state; false: none to be had now. */
bool dh_slot_acquire(struct dh_race_state *s);
/* The thread ends or changes its slot. */
void dh_slot_release(struct dh_race_state *s);
/* The clock ran out. */
static inline bool dh_slot_is_exhausted(const struct dh_race_state *s);
/* The state of the thread that had the slot at that time; with a reference, or NULL. */
struct dh_race_state *dh_slot_holder_at(uint32_t time, uint32_t *thread);
void dh_race_state_release(struct dh_race_state *s);
/* All zero but for the filter, of which nothing counts any more, and the stamp that goes with it; NULL: no memory. */
struct dh_race_state *dh_race_state_new(void);
/* In a forked child: only the calling thread is left. */
void dh_slots_forked(struct dh_race_state *survivor);
uint32_t dh_slots_generation(void);
/* How often accesses of two threads may not have been told apart since. */
uint32_t dh_slots_merged(void);
/* Where the i-th thread that has a slot keeps its stack and thread-local variables; false: no more. */
struct dh_thread_memory {
    uint32_t thread;
    uintptr_t stack_low, stack_high, tls_low, tls_high;
};
bool dh_slot_thread_memory(unsigned i, struct dh_thread_memory *out);
/* Of the executable's thread-local variables, which end at the thread pointer. */
size_t dh_slot_tls_size(void);

extern uint32_t dh_slot_clock_limit;
static inline bool dh_slot_is_exhausted(const struct dh_race_state *s)
{
    return dh_epoch_clock(s->t.time) >= dh_slot_clock_limit;
}

#endif
