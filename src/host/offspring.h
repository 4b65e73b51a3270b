/* Processes that descend from one of ours, as /proc has them now. Layer: host. */
#ifndef DH_HOST_OFFSPRING_H
#define DH_HOST_OFFSPRING_H

#include "base/vec.h"

#include <sys/types.h>

typedef DH_VEC(pid_t) dh_pids;

/* `of` itself is the first, parents come before their children. Released by the caller. */
void dh_offspring(pid_t of, dh_pids *out);
/* Of one process. */
void dh_threads_of(pid_t process, dh_pids *out);

#endif
