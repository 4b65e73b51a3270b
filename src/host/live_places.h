/* Where the threads of a process and its offspring are, in words. Layer: host (elfutils). The stacks of threads in
 * system calls are read from outside, without stopping them; who runs is stopped for the moment that takes. */
#ifndef DH_HOST_LIVE_PLACES_H
#define DH_HOST_LIVE_PLACES_H

#include "base/str.h"

#include <sys/types.h>

/* "at serve.c:30 in accept_loop (accept descriptor 3), 2 threads at pool.c:12 in worker (futex queue.lock), at sum.c:7
 * in add (running)"; of programs that have no
 * debug information only their names and calls. */
void dh_live_places(pid_t of, struct dh_str *out);

#endif
