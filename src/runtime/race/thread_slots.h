/* Thread slots: the 127 thread ids of epochs (TSan v3: tid slots). Layer: runtime. A slot belongs to one thread at a
 * time; its clock continues where the last thread stopped. When all are in use, that of a blocked thread, or else of
 * any, is borrowed; no false order arises, at worst races between threads that had the same slot are missed. When all
 * clocks are exhausted, all state is reset. */
#ifndef DH_RUNTIME_RACE_THREAD_SLOTS_H
#define DH_RUNTIME_RACE_THREAD_SLOTS_H

#include "runtime/race/race_state.h"

#define DH_SLOT_FREED 255 /* of no thread: epochs of freed memory */
/* `own` of a thread whose slot was borrowed: an epoch that no cell has. 0 would equal an empty cell. */
#define DH_OWN_BORROWED 0xFFE00000FFE00000u

void dh_slots_init(uint32_t clock_limit);
/* Acquires a slot for the calling thread's state; false: none is available now. */
bool dh_slot_acquire(struct dh_race_state *s);
/* When the thread ends or changes its slot. */
void dh_slot_release(struct dh_race_state *s);
/* Its clock has no more values. */
static inline bool dh_slot_is_exhausted(const struct dh_race_state *s);
/* The state of the thread that held the slot at that time, with a reference, or NULL. */
struct dh_race_state *dh_slot_holder_at(uint32_t time, uint32_t *thread);
void dh_race_state_release(struct dh_race_state *s);
/* All zero but for the filter, whose entries are outdated by the stamp; NULL: no memory. */
struct dh_race_state *dh_race_state_new(void);
/* In a forked child: only the calling thread is left. */
void dh_slots_forked(struct dh_race_state *survivor);
uint32_t dh_slots_generation(void);
/* How often a slot passed to a thread that its last one was not ordered before: races between the two may be missed. */
uint32_t dh_slots_merged(void);
/* Stack and thread-local variables of the i-th thread that has a slot; false: no more. */
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
