/* Steps that threads wait for without any detector's knowledge: never instrumented, nothing but the system call. */
#ifndef DH_TESTS_INVISIBLE_H
#define DH_TESTS_INVISIBLE_H

#ifdef __cplusplus
extern "C" {
#endif
/* Waits until somebody has reached `step` or a later one. */
void invisible_await(int step);
void invisible_reach(int step);
#ifdef __cplusplus
}
#endif

#endif
