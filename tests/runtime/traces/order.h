/* Happens-before of a trace by event/happens_before.h, against which the runtime's own clocks are held. Called by the
 * thread whose turn it is, in the order of the trace. */
#ifndef DH_TESTS_TRACES_ORDER_H
#define DH_TESTS_TRACES_ORDER_H

#include <stdint.h>

enum { ORDER_THREADS = 8, ORDER_OPS = 512 };

void order_begin(void);
/* Does the runtime know the same of the accesses before as the rules do? Answers the number of an operation on which
 * they differ for the calling thread, which is `thread` of the trace, or -1. */
int order_differs(unsigned thread);
/* Operation `op` is through; `other` is the thread that is joined, or that the condition's signal wakes. */
void order_apply(int op, const char *name, unsigned thread, unsigned object, unsigned offset, unsigned other);
/* The threads met at a barrier. */
void order_barrier(const unsigned *threads, unsigned n);

#endif
