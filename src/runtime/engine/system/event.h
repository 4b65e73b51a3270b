/* System calls that wait for descriptors: they are asked without waiting, and parked while there is nothing. Layer:
 * runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_EVENT_H
#define DH_RUNTIME_ENGINE_SYSTEM_EVENT_H

#include "runtime/engine/engine.h"

/* Until reading would not wait; at once, if the descriptor is one that does not. */
void dh_wait_until_readable(int fd);
long dh_wait_poll(long number, const long a[6]);
long dh_wait_select(long number, const long a[6]);
long dh_wait_epoll(long number, const long a[6]);

#endif
