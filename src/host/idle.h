/* Whether a process and its offspring still do something, seen from outside. Layer: host. Disturbs none of them. */
#ifndef DH_HOST_IDLE_H
#define DH_HOST_IDLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What they wait for, if they only wait; what comes later may end the wait by itself. */
enum dh_waiting { DH_WAITING_NOT, DH_WAITING_FOR_EACH_OTHER, DH_WAITING_FOR_TIME, DH_WAITING_FOR_OUTSIDE };

/* A system call in which a thread waits. */
struct dh_wait_call {
    long number;
    uint64_t arguments[6], stack, code; /* stack pointer and program counter */
};

/* Zero-initialise. */
struct dh_idle {
    uint64_t since_ns, ticks; /* of the time of processors that was used then */
    uint64_t threads;         /* hash of those that there were */
};

/* For how long the offspring of that process have done next to nothing, as far as earlier looks can tell; 0: they
 * work, or some have come or gone, or are of this tool. */
uint64_t dh_idle_look(struct dh_idle *i, pid_t of, uint64_t now_ns);
/* Whether it has offspring, and none of them is of this tool. */
bool dh_idle_is_alone(pid_t of);
/* What the offspring wait for now. */
enum dh_waiting dh_idle_waiting(pid_t of);

/* The watcher of the runtime (runtime/deadlock/watcher.c) is no thread of the program. */
bool dh_thread_is_ours(pid_t process, pid_t thread);

/* The call in which that thread waits; false: it is in none. */
bool dh_wait_call_of(pid_t process, pid_t thread, struct dh_wait_call *out);
/* By the call alone, whatever its descriptors are (host/reach.h). */
enum dh_waiting dh_wait_call_kind(const struct dh_wait_call *c);
bool dh_wait_call_is_known(const struct dh_wait_call *c);
/* Whether its first argument is a place in memory, or a descriptor. */
bool dh_wait_call_is_on_memory(const struct dh_wait_call *c);
bool dh_wait_call_is_on_descriptor(const struct dh_wait_call *c);
/* Its name, or "a system call". */
const char *dh_wait_call_name(const struct dh_wait_call *c);

#endif
