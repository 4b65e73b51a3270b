/* Waiting for events of several descriptors: poll, select, and what epoll shares with them. Layer: runtime. A task that
 * waits is asked for its events at every decision, without system calls. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_EVENT_H
#define DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_EVENT_H

#include "runtime/engine/system/descriptors/io_step.h"

#include <time.h>

/* poll, ppoll; select, pselect6. */
long dh_event_poll(long number, const long a[6]);
long dh_event_select(long number, const long a[6]);

/* A wait for events. `collect` answers how many there are now, or a negative errno, and, if `report`, tells the caller
 * which; `due` is when the next comes by itself. */
struct dh_event_wait {
    struct dh_io io;
    int64_t timeout_ns; /* negative: none */
    long (*collect)(const struct dh_task *t, bool report);
};
/* The task's arguments are in its io_args. */
long dh_event_await(const struct dh_event_wait *w);

int64_t dh_event_ms(long ms);
int64_t dh_event_ns(const struct timespec *t);

#endif
