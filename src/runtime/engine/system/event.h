/* System calls that wait for events of descriptors: poll, select, epoll and blocking reads. They are made without
 * waiting, and the task is parked while there is no event. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_EVENT_H
#define DH_RUNTIME_ENGINE_SYSTEM_EVENT_H

#include "runtime/engine/engine.h"

/* Until reading would not block; returns at once if the descriptor is non-blocking. */
void dh_wait_until_readable(int fd);
long dh_wait_poll(long number, const long a[6]);
long dh_wait_select(long number, const long a[6]);
long dh_wait_epoll(long number, const long a[6]);

#endif
