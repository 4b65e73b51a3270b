/* Whether what a thread waits for in a system call can come from outside of a process and its offspring. Layer: host.
 * Descriptors are judged one by one: those of the call, of its sets, or of an epoll set. */
#ifndef DH_HOST_REACH_H
#define DH_HOST_REACH_H

#include "base/set.h"
#include "host/idle.h"
#include "host/offspring.h"

/* What the processes have among themselves, as inodes of sockets and pipes. */
struct dh_reach {
    struct dh_u64_set sockets; /* that one of the processes has */
    struct dh_u64_set shared;  /* pipes that we have as well */
};

/* `all`: the first is one of ours that started the others. */
void dh_reach_init(struct dh_reach *r, const dh_pids *all);
void dh_reach_release(struct dh_reach *r);
enum dh_waiting dh_reach_of(const struct dh_reach *r, pid_t process, const struct dh_wait_call *c);

#endif
