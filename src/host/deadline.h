/* The clock, and the deadline of the command. Layer: host. The command sets it when its time begins; a stage may only
 * narrow it; forked children inherit it. Every wait for a child process, here and for searches and replays, ends what
 * it waits for, with all that this started, when the deadline is over. One thread. */
#ifndef DH_HOST_DEADLINE_H
#define DH_HOST_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* CLOCK_MONOTONIC */
uint64_t dh_now_ns(void);

/* From here on, unless an earlier one holds; `at_ns` is a time of dh_now_ns. */
void dh_deadline_narrow(uint64_t at_ns);
bool dh_deadline_over(void);
/* UINT64_MAX without a deadline; 0 when it is over. */
uint64_t dh_deadline_left(void);
/* So long, but not beyond the deadline. */
uint64_t dh_deadline_limit(uint64_t patience_ns);

/* Waits until the process has ended or the time is over; then kills it and its offspring. False: it was killed.
 * `status` as of waitpid. */
bool dh_wait_or_end(pid_t pid, uint64_t patience_ns, int *status);
/* SIGKILL to children, their children and so on; not to itself. */
void dh_kill_offspring(pid_t of);

#endif
