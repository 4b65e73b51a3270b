/* Noise: delays that make rare interleavings likely (001 §3.3). Layer: runtime. Any thread, signal handlers. Every
 * thread draws from a stream of its own, which the seed and its index of creation determine. */
#ifndef DH_RUNTIME_ATOMRACE_NOISE_H
#define DH_RUNTIME_ATOMRACE_NOISE_H

#include <stdbool.h>
#include <stdint.h>

extern bool dh_noise_on;          /* any clause at all */
extern bool dh_noise_by_conflict; /* AUTO: dh_noise_conflict is to be told */

/* Reads the options; what they say was checked by the tool, so mistakes are told in one line and left out. */
void dh_noise_start(void);
/* Between the two events of an access; `mark` says of which clauses its site is a target. */
void dh_noise_at_access(uint32_t mark, uint32_t place, bool locked);
/* Delays made so far, of all threads. */
uint32_t dh_noise_count(void);
/* What was kept for the thread is given back. */
void dh_noise_thread_ends(void);
/* At a synchronisation. */
void dh_noise_at_sync(void);
/* Before a lock is tried: behind it, nobody could come between any more. */
static inline void dh_noise_before_lock(void)
{
    if (__builtin_expect(dh_noise_on, 0))
        dh_noise_at_sync();
}
/* Two places conflict: two threads were there with the same memory, one of them writing. And: at the same time. */
void dh_noise_conflict(uint32_t one, uint32_t other);
void dh_noise_collision(uint32_t one, uint32_t other);

#endif
