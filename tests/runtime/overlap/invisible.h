/* What no detector sees (built by the plain compiler): the gate that lets accesses happen at the same moment, pointers
 * handed from thread to thread, and counts of what was reported. */
#ifndef DH_TESTS_OVERLAP_INVISIBLE_H
#define DH_TESTS_OVERLAP_INVISIBLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Everybody waits for everybody: two threads, let go by one store. Any number of times. */
void meet(void);
void meet_anew(void);
/* The one object that races; valid for both threads behind the next meeting. */
void watch(void *at, size_t size);
void *watched(void);
/* Reports since watch(): on the object, and on anything else. Only where reports are caught (see run). */
unsigned reported_inside(void);
unsigned reported_outside(void);
void forget_reports(void);
void stay_for_ever(void);

#ifdef __cplusplus
}
#endif

#endif
