/* Calls that may block in a run for real (DH_ENGINE_FOR_REAL), where descriptors are the kernel's: they are made
 * without waiting, and the task is parked while they would block. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_FOR_REAL_H
#define DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_FOR_REAL_H

#include "runtime/engine/engine.h"

/* Any call that reads from, writes to, or only concerns the descriptor a[0]: a step, then the kernel's. */
long dh_for_real_read(long number, const long a[6]);
long dh_for_real_write(long number, const long a[6]);
long dh_for_real_step(long number, const long a[6]);
/* One that changes which numbers are open. */
long dh_for_real_numbers(long number, const long a[6]);
long dh_for_real_poll(long number, const long a[6]);
long dh_for_real_select(long number, const long a[6]);
long dh_for_real_epoll(long number, const long a[6]);

#endif
