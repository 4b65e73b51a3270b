/* Where the threads of a process and its offspring wait, in words. Layer: host (elfutils). Disturbs none of them: the
 * stacks of threads in system calls are read from outside, without stopping them. */
#ifndef DH_HOST_LIVE_PLACES_H
#define DH_HOST_LIVE_PLACES_H

#include "base/str.h"

#include <sys/types.h>

/* "main at serve.c:30 in accept_loop (accept), 2 threads at pool.c:12 in worker (futex)"; of programs that have no
 * debug information only their names and calls. */
void dh_live_places(pid_t of, struct dh_str *out);

#endif
