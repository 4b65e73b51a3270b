/* Steps that threads wait for without any detector's knowledge: compiled by the plain compiler, nothing but system
 * calls. Where one thread must be seen waiting, the other does not sleep and hope: it asks whether it waits. */
#ifndef DH_TESTS_INVISIBLE_H
#define DH_TESTS_INVISIBLE_H

#ifdef __cplusplus
extern "C" {
#endif
/* Waits until somebody has reached `step` or a later one. */
void invisible_await(int step);
void invisible_reach(int step);
/* This thread is the one that another will find waiting. */
void invisible_here(void);
/* Waits until that thread waits in the kernel for a lock, a condition or the like. */
void invisible_await_waiting(void);
#ifdef __cplusplus
}
#endif

#endif
