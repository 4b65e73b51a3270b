/* Noise: delays that make rare interleavings likely (001 §3.3). Layer: runtime. Any thread, signal handlers. Every
 * thread draws from a stream of its own, which the seed and its index of creation determine. */
#ifndef DH_RUNTIME_ATOMRACE_NOISE_H
#define DH_RUNTIME_ATOMRACE_NOISE_H

#include <stdbool.h>
#include <stdint.h>

extern bool dh_noise_on;          /* any clause at all */
extern bool dh_noise_by_conflict; /* AUTO: dh_noise_conflict is to be called */

/* Reads the options. The tool has checked them: an error is printed in one line, and there is no noise. */
void dh_noise_start(void);
/* Between the two events of an access; `mark` has the clauses whose target its site is. */
void dh_noise_at_access(uint32_t mark, uint32_t place, bool locked);
/* Delays made so far, of all threads. */
uint32_t dh_noise_count(void);
/* Frees what the calling thread has allocated. */
void dh_noise_thread_ends(void);
/* Where threads synchronise. */
void dh_noise_at_sync(void);
/* Two places conflict: two threads accessed the same memory there, one of them writing. And: they collided. */
void dh_noise_conflict(uint32_t one, uint32_t other);
void dh_noise_collision(uint32_t one, uint32_t other);

#endif
